"""The pages of the documentation that are made from the code, and the site of all pages.

`make docs` runs `python -m tools.pages`: it copies docs/ to build/docs, adds what is made here
(the API by room, commands, policy keys, functions by engine, errors, the gallery, notebooks),
and builds the site in build/site. Nothing that is made is committed, so nothing can be stale.
"""
