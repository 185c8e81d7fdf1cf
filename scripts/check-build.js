// The compiler leaves `import('./x.ts')` as it is in a block that also has a `using` declaration (TypeScript 6.0.3);
// such a file works from source and fails when built, so the build looks for it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));
const files = readdirSync(dist, { recursive: true }).filter((file) => file.endsWith('.js'));
const wrong = files.filter((file) =>
  /\bimport\(\s*['"][^'"]+\.ts['"]|\bfrom ['"][^'"]+\.ts['"]/.test(readFileSync(join(dist, file), 'utf8')),
);
if (files.length === 0 || wrong.length > 0) {
  process.stderr.write(`built files still import .ts: ${wrong.join(', ') || 'nothing was built'}\n`);
  process.exit(1);
}
