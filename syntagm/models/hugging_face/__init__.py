"""What causal and masked models from transformers share: checkpoints, tokens, options, devices."""
