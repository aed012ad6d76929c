// The console's own script. Every page works without it, but for the live preview.
"use strict";
