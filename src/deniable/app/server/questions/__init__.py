"""Questions over HTTP: who may ask, the queue, the slots and the answers."""
