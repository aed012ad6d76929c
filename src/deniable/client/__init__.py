"""Questions to a server elsewhere: `dp.connect`."""
