"""The one door from data to released numbers: check, charge, run, add noise, settle."""
