// Placeholder so that the suite exists before its first test.
