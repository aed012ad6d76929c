"""The rows under attack, the questions about them, and what each row adds to the answers."""
