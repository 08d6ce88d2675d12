"""The task `gaps`: word lists in the gaps of sentences, judged by EW, MW and TSE."""
