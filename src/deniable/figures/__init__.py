"""Pictures of losses, releases, surveys and attacks; the only room that imports matplotlib.

A picture is a function that returns a matplotlib `Figure` drawn on `canvas.canvas`; what
`make figures` draws is listed in `gallery.FIGURES`. Needs the extra `deniable[figures]`.
"""
