import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const lib = join(import.meta.dirname, '..', '..', 'src', 'lib');
/** Modules of `gw serve`, which runs for weeks on a machine whose wall clock may be set at any time. */
const ofTheDaemon = [
  'gateway',
  'operator',
  'incident',
  'delivery',
  'motion',
  'fleet',
  'chassis',
  'evidence',
  'cloud',
  'tunnel',
  'lifecycle',
];

/** Places where the daemon reads the wall clock: for display only, not for decisions. */
const allowed = {
  'lifecycle/clock.ts': 'the clock itself',
  'cloud/gate/discarded.ts': 'when a message was discarded',
  'cloud/link/attempt.ts': 'when an attempt failed, and since when a connection lasts',
  'cloud/link/view.ts': 'whether the CA that verifies the broker ends soon; a warning, and nothing is closed by it',
  'cloud/link/run/connector.ts': 'when an attempt failed before its first step',
  'cloud/link/run/sessions.ts': 'when a connection was lost',
  'cloud/outbox/outbox.ts': 'the envelope of a message; order and age in the outbox come from its key',
  'cloud/outbox/thread/store-thread.ts':
    'the envelope of the record about thinned telemetry, and the name of a damaged file',
  'cloud/release/job/intake.ts': 'since when a release runs; its waits are monotonic',
  'cloud/reporting/faults.ts': 'when a fault was cleared',
  'cloud/reporting/shadow.ts': 'when an update was rejected',
  'cloud/storage/spool.ts': 'when an archive was added; in the process of the command',
  'cloud/storage/uploads.ts':
    'the age of an abandoned copy, against its time in the file system; at worst the command that copies has to be repeated',
  'gateway/clock-jumps.ts': 'what is watched: the wall clock beside the monotonic one; a lamp, a metric and a fault',
  'gateway/certificate-watch.ts': 'how long the device certificate lasts; a warning, and nothing is closed by it',
  'gateway/certificate-renewal.ts':
    'whether the device certificate ends soon; a new one is taken only where the clock agrees with the endpoint, and after its proof',
  'incident/recorder.ts': 'when an incident was, for display; its times are monotonic',
  'operator/incidents/incidents.ts': 'which drafts of a crash are old enough to be removed',
  'motion/run/runs.ts': 'part of the id of a tour; a counter makes it unique',
  'motion/trial/running-trial.ts': 'part of the id of a trial; a counter and a random number make it unique',
  'motion/trial/finish.ts': 'when the records of a trial were made',
  'motion/pose-alarm.ts': 'since when the pose is wrong or not known',
  'motion/latch/held-stop.ts': 'since when the robot is stopped',
  'motion/latch/stop-latch.ts': 'which drafts of a crash are old enough to be removed',
  'operator/application.ts': 'the age of the oldest unsent message to the cloud, on the page',
  'operator/view/page-state.ts': 'the time that a page shows',
  'tunnel/link/serve-socket.ts': 'the payload of a ping, as a common proxy sends it',
  'tunnel/records/records.ts': 'the time in a record, and names of damaged files; the order of records is their number',
  'tunnel/session/recording/outcomes.ts': 'when a notification was refused, on the page',
  'delivery/day-list.ts': 'when a drive began and ended, in the list for the manager; nothing is removed by it',
  'operator/delivery/delivery-handlers.ts': 'which part of that list is shown',
  'operator/journal.ts': 'the time of a log event',
};

const wallClock = /\bwall\(\)|\bDate\.now\(|\bnew Date\(\)/;

describe('the wall clock', () => {
  it('is read by the daemon for display only, so that a jump of it decides nothing', () => {
    const files = ofTheDaemon.flatMap((module) =>
      readdirSync(join(lib, module), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => `${module}/${name}`),
    );
    expect(files.length).toBeGreaterThan(50);
    const readers = files.filter((file) => wallClock.test(withoutComments(readFileSync(join(lib, file), 'utf8'))));
    expect(readers.filter((file) => !(file in allowed))).toEqual([]);
  });

  it('is detected where it is read', () => {
    for (const line of ['const now = clock.wall().getTime();', 'Date.now()', 'x = new Date()']) {
      expect(wallClock.test(withoutComments(line))).toBe(true);
    }
    expect(wallClock.test(withoutComments('// no wall() here\n/** nor Date.now() */'))).toBe(false);
  });
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\/\/.*$/gm, '');
}
