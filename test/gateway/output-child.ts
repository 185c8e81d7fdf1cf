// Writes `count` numbered lines of 100 bytes to fd 2 as the daemon does, then one of `bytes` in each turn where that is
// set, and writes its state to a report file. Ends when the file `<report>.end` exists.
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { openLog } from '../../src/lib/gateway/log.ts';
import { openOutputSink } from '../../src/lib/gateway/output-sink.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';

const [report = '', count = '0', bytes = '0'] = process.argv.slice(2);
const { way } = openOutputSink(2);
const { log, writer } = await openLog({ level: 'info', format: 'json', fd: 2 });
for (let n = 0; n < Number(count); n += 1) log.info({ n, pad: 'x'.repeat(100) }, 'line');

for (let turns = 1; !existsSync(`${report}.end`); turns += 1) {
  if (bytes !== '0') log.info({ pad: 'x'.repeat(Number(bytes)) }, 'more');
  writeFileSync(`${report}.new`, JSON.stringify({ way, turns, ...writer.state() }));
  renameSync(`${report}.new`, report);
  await systemClock.sleep(20);
}
log.info({}, 'last');
void writer.end(300);
