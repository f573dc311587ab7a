"""What is erased, and what keeps it away."""
