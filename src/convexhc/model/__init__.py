"""The three nouns every model is built from: fidelity, penalty, constraint."""
