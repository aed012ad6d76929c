"""The cells of columns: public, and chosen before any row is read."""
