"""What a runtime does about each policy, found out from what it shows and not from what it says."""
