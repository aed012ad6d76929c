"""The questionnaire, the design of each question, and the file of reports."""
