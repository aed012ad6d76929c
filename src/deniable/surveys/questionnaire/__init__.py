"""What is asked, by which design, and how the reports are kept."""
