"""The one door from data to released numbers: sessions, releases and certificates.

Nothing is imported here: who needs a release alone loads no session and no engine.
"""
