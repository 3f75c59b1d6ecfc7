"""What the command line does: each command takes its options and says what it has to say."""
