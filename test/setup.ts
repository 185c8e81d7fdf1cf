// Before each test file: what the properties of this run have in common.
import fc from 'fast-check';
import { runs } from './properties.ts';

fc.configureGlobal({ seed: Number(process.env.GW_SEED), numRuns: runs(100) });
