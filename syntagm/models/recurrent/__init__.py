"""What word-level recurrent networks share: reading texts word by word, and scoring them."""
