// `npm run fuzz [PARSER ...] [-- --inputs N] [--seed N]`: mutated inputs for the parsers of foreign bytes. A hit is kept
// in test/fuzz/hits, where the tests try it again; exit code 1 when there is one.
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { parsers } from './parsers.ts';
import { keepHit, startSession } from './session.ts';

/** They open a file, a socket or a stream of zlib for each input: a tenth takes as long, unless a number is given. */
const costly = ['http', 'png', 'archive', 'release'];
const parserNames = Object.keys(parsers);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    inputs: { type: 'string' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
  },
});
const [inputs, seed] = [Number(values.inputs ?? 4_000), Number(values.seed)];
const unknown = positionals.filter((name) => !parserNames.includes(name));
if (!Number.isSafeInteger(inputs) || inputs < 1 || !Number.isSafeInteger(seed) || unknown.length > 0) {
  process.stderr.write(
    `usage: npm run fuzz [PARSER ...] [-- --inputs N] [--seed N]; PARSER: ${parserNames.join(', ')}\n`,
  );
  process.exit(2);
}

process.stdout.write(`seed ${seed}\n`);
await using session = startSession();
for (const name of positionals.length > 0 ? positionals : parserNames) {
  const own = values.inputs === undefined && costly.includes(name) ? inputs / 10 : inputs;
  const { tried, accepted, seconds, hits } = await session.run({ name, inputs: own, seed });
  const share = ((100 * accepted) / tried).toFixed(1);
  process.stdout.write(
    `${name.padEnd(12)} ${seconds.toFixed(1).padStart(8)} s, ${share.padStart(5)} % accepted, ${hits.length} hits\n`,
  );
  for (const hit of hits) {
    process.stdout.write(`  input ${hit.index}: ${hit.problem.slice(0, 1_500)}\n  kept: ${keepHit(name, hit)}\n`);
    process.exitCode = 1;
  }
}
