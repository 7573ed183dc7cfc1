import fc from 'fast-check';

// The same random values in each run, so that a change is to blame for what fails. `SEED` tries others.
fc.configureGlobal({
	seed: Number(process.env['SEED'] ?? 20_261_120),
	numRuns: Number(process.env['RUNS'] ?? 100),
});
