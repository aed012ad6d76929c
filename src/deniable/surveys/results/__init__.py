"""What a collected survey says: estimates by whole batches, sentences, files to hand on."""
