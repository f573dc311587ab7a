"""What follows the index in a search: candidates are scored line by line against the question, words and vectors are weighed against each other, and the best lines grow into passages."""
