"""Figures of losses, releases and surveys; the only room that imports matplotlib.

A figure is a function that returns a matplotlib `Figure` made with `canvas.canvas`. The list
of figures for `make figures` is `gallery.FIGURES`. Needs the extra `deniable[figures]`.
"""
