// Runs a list of questions and is killed at one of them: `node journal-child.ts DIR DIE_AT [RESUME]`.
// Prints the id of every step once its result would be shown to a person.
import { appendFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import {
  beginJournal,
  findJournal,
  parseChecklist,
  resumeJournal,
  runSession,
} from '../../../src/lib/checklist/index.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';

const [, , dir = '', dieAt = '', resume] = process.argv;
const steps = Array.from({ length: 12 }, (_, n) => `q${n}`);
const text = [
  'schema: gw/checklist/1\nname: own\ntitle: Own\npurpose: To see.\nsteps:',
  ...steps.map((id) => `  - { id: ${id}, title: T, proves: Device, confirm: Is it?, remedy: Mend. }`),
].join('\n');
const checklist = parseChecklist(text, 'own.yaml', {});
const robot = { checklist, subject: { site: 'Lobby', serial: 'SN1' } };

async function journal() {
  if (resume !== undefined) {
    const found = await findJournal(dir, 'own', ['SN1']);
    if (!found) throw new Error('no journal');
    return resumeJournal(found.path);
  }
  return beginJournal(dir, {
    id: crypto.randomUUID(),
    at: new Date().toISOString(),
    gw: '0',
    checklist: { name: 'own', sha256: checklist.sha256 },
    robots: [robot.subject],
  });
}

await using open = await journal();
await runSession({
  robots: [robot],
  wanted: { only: [], from: null },
  journal: open,
  clock: systemClock,
  signal: new AbortController().signal,
  motionAllowed: false,
  ask: async ({ id }, { keepPhoto }) => {
    appendFileSync(join(dir, 'asked'), `${id}\n`);
    const attachments = id === 'q3' ? [await keepPhoto(join(dir, 'photo.jpg'))] : [];
    return { answer: 'yes', by: null, initials: 'KM', remark: `remark of ${id}`, value: null, attachments };
  },
  onResult: ({ id }) => {
    writeSync(1, `${id}\n`);
    if (id === dieAt) process.kill(process.pid, 'SIGKILL');
  },
});
