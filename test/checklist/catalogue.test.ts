import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadChecklist, parseAnswers, parseChecklist } from '../../src/lib/checklist/index.ts';
import { drives, expiringFor } from '../../src/lib/checklist/run/expiry.ts';
import { GwError } from '../../src/lib/error/index.ts';
import { factsOfOrder } from '../../src/lib/motion/index.ts';
import { type Sim, startSim } from '../../src/lib/sim/index.ts';
import { createCatalogue } from '../../src/lib/toolkit/catalogue/catalogue.ts';
import {
  checklistListSchema,
  checklistRunSchema,
  checklistShowSchema,
} from '../../src/lib/toolkit/checklist/checklist.result.ts';
import { listLibrary, showChecklist } from '../../src/lib/toolkit/checklist/run.ts';
import { sharedFolder } from '../toolkit/kit.ts';
import { builtIn, runList } from './kit.ts';

/** Headings of the specification that contain rules; a step may add the rule of the list. */
const sections = [
  'Core network rule',
  'Network segments',
  'Addressing rules',
  'Customer IT request',
  'Evidence marks',
  'Device',
  'Angles (critical rule)',
  'Map and overlays',
  'States and transitions',
  'Chassis interface',
  'Operator server',
  'Rules for the read-only socket',
  'Enrolment',
  'Cloud and other network paths',
  'Authentication',
  'Events',
  'Errors',
  'Limits',
  'Versioning',
];

describe('the built-in checklists', () => {
  test('are valid, listed and shown, and every step names the section that it proves', async () => {
    const list = checklistListSchema.parse(await listLibrary(builtIn));
    expect(list.checklists.map(({ name }) => name)).toEqual(['demo', 'handover', 'premises', 'service', 'site']);
    for (const { name } of list.checklists) {
      const shown = checklistShowSchema.parse(await showChecklist(name, builtIn));
      expect(shown.name).toBe(name);
      for (const step of shown.steps) {
        expect(
          sections.some((section) => step.proves.startsWith(section)),
          `${name}: ${step.proves}`,
        ).toBe(true);
      }
    }
  });

  test('ask no question in the demo, and ask the technician elsewhere for what gw cannot check', async () => {
    const { checklists } = await listLibrary(builtIn);
    const by = Object.fromEntries(checklists.map((one) => [one.name, one]));
    expect(by.demo).toMatchObject({ questions: 0, movesRobot: true });
    expect(by.site?.questions).toBeGreaterThan(10);
    expect(by.premises?.questions).toBeGreaterThan(5);
  });

  test('are in sections and phases, and a robot is moved only behind a precondition that a person answers', async () => {
    const catalogue = createCatalogue();
    for (const phase of ['premises', 'site', 'handover', 'service']) {
      const list = await loadChecklist(join(builtIn, `${phase}.yaml`), catalogue);
      expect(list.phase).toBe(phase);
      expect(list.sections.length).toBeGreaterThan(2);
      for (const step of list.steps.filter(({ moves }) => moves)) {
        const gates = step.requires.filter(({ of }) => of === 'section').flatMap(({ steps }) => steps);
        const questions = list.steps.filter(
          ({ id, kind, precondition }) => gates.includes(id) && precondition && kind === 'confirm',
        );
        expect(questions, `${phase}: ${step.id}`).not.toEqual([]);
      }
    }
  });

  test('make the robot drive only after questions whose answers expire with the run', async () => {
    for (const password of [undefined, 'of no one']) {
      for (const name of ['site', 'service']) {
        const list = await loadChecklist(join(builtIn, `${name}.yaml`), createCatalogue({ password }));
        const gates = ['trial-space', 'trial-emergency-stop', 'people-know', 'way-clear'];
        for (const step of list.steps) {
          if (step.kind === 'confirm') expect(step.expires, step.id).toBe(gates.includes(step.id));
          if (!drives(step)) continue;
          const asked = expiringFor(step, list).map(({ id }) => id);
          expect(asked, `${name}: ${step.id}`).toContain(
            step.section === 'trials' ? 'trial-emergency-stop' : 'way-clear',
          );
        }
      }
    }
  });

  test('accept a finding that was not checked only where the title claims no more', async () => {
    const accepting: string[] = [];
    for (const name of ['demo', 'premises', 'site', 'handover', 'service']) {
      for (const step of (await loadChecklist(join(builtIn, `${name}.yaml`), createCatalogue())).steps) {
        const expected = step.kind === 'run' ? step.expectations.map(({ matcher }) => matcher.expected) : [];
        if (expected.some((text) => /not-(?:checked|decided)/.test(text))) accepting.push(step.title);
      }
    }
    expect([...new Set(accepting)]).toEqual([
      'The site file is valid',
      'The enrolment named the expected region and broker, and the broker name contradicts neither',
    ]);
  });

  test('name with the evidence check every fact that its orders rely on', async () => {
    const catalogue = createCatalogue();
    for (const name of ['premises', 'site', 'service']) {
      const { steps } = await loadChecklist(join(builtIn, `${name}.yaml`), catalogue);
      const step = steps.find((one) => one.kind === 'run' && one.run === 'evidence check');
      const { orders } = (step?.kind === 'run' ? step.options : {}) as { orders: (keyof typeof factsOfOrder)[] };
      const needed = new Set<string>(orders.flatMap((order) => factsOfOrder[order]));
      expect([...(step?.facts ?? [])].sort(), name).toEqual([...needed].sort());
    }
  });

  test('an unknown name is reported with the closest one, a path is used unchanged', async () => {
    await expect(showChecklist('premisses', builtIn)).rejects.toThrow(/Did you mean 'premises'\?/);
    await expect(showChecklist('premisses', builtIn)).rejects.toMatchObject({ code: 'CHECKLIST_UNKNOWN', exitCode: 2 });
    await expect(showChecklist('./none.yaml', builtIn)).rejects.toMatchObject({ code: 'CHECKLIST_UNKNOWN' });
  });
});

test('the example in the docs is a valid checklist with valid answers', async () => {
  const page = await readFile(fileURLToPath(new URL('../../docs/checklists.md', import.meta.url)), 'utf8');
  const [answers = '', example = ''] = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml]) => yaml);
  expect(parseChecklist(example, 'docs', createCatalogue()).steps).toHaveLength(6);
  const site = await loadChecklist(join(builtIn, 'site.yaml'), createCatalogue());
  const read = parseAnswers(answers, '/docs/a.yaml', site);
  expect([...read.answers.keys()]).toEqual(['segment', 'outbound', 'not-connected-after', 'tablet', 'neighbours']);
  expect(read.answers.get('tablet')?.photos).toEqual(['/docs/pictures/tablet.jpg']);
  expect([...read.approvals.keys()]).toEqual(['chassis-mac']);
});

describe('the checks of the catalogue against the simulated robot', () => {
  const dir = sharedFolder();
  let sim: Sim;
  beforeAll(async () => {
    sim = await startSim({ dir: join(dir, 'sim') });
  });
  afterAll(async () => {
    await sim[Symbol.asyncDispose]();
  });

  const list = `schema: gw/checklist/1
name: own
title: Own
purpose: To see.
steps:
  - { id: file, title: File, proves: Device, run: site check, expect: { valid: true }, remedy: Mend. }
  - { id: address, title: Address, proves: Device, needs: [file], run: chassis address, expect: { state: connected }, remedy: Mend. }
  - { id: probe, title: Probe, proves: Device, needs: [address], run: chassis probe, with: { seconds: 2 }, expect: { poseUnit.verdict: degrees }, remedy: Mend. }
  - { id: facts, title: Facts, proves: Device, needs: [address], run: evidence check, with: { orders: [move, dock, pose] }, expect: { findings: all-ok }, remedy: Mend. }
`;
  const run = async (sitePath: string) => {
    sim.setFault('turned-by-hand', true);
    const path = join(dir, 'own.yaml');
    await writeFile(path, list);
    return runList({ nameOrFile: path, sitePaths: [sitePath], outDir: join(dir, 'out') });
  };

  test('pass on a faultless robot, and the report names it', async () => {
    const result = checklistRunSchema.parse(await run(join(dir, 'sim', 'site.yaml')));
    expect(result.steps.map(({ id, verdict, why }) => ({ id, verdict, why }))).toEqual([
      expect.objectContaining({ id: 'file', verdict: 'ok' }),
      expect.objectContaining({ id: 'address', verdict: 'ok' }),
      expect.objectContaining({ id: 'probe', verdict: 'ok' }),
      expect.objectContaining({ id: 'facts', verdict: 'ok' }),
    ]);
    expect(result.subject).toEqual({ site: 'Simulated robot', serial: 'SIM-0001' });
    expect(result.written).toHaveLength(3);
    expect(await readFile(result.written[2] ?? '', 'utf8')).toContain('`SIM-0001`');
  });

  test('a fact that was not verified on this chassis is wrong and named', async () => {
    const site = join(dir, 'sim', 'bare.yaml');
    const text = await readFile(join(dir, 'sim', 'site.yaml'), 'utf8');
    await writeFile(site, text.replace('evidence.jsonl', 'none.jsonl'));
    const { steps } = await run(site);
    expect(steps[3]?.verdict).toBe('wrong');
    expect(steps[3]?.why).toContain('vendor.move.request');
  });

  test('an invalid site file fails its step, and dependent steps are skipped', async () => {
    const site = join(dir, 'broken.yaml');
    await writeFile(site, 'name: x\n');
    const result = await run(site);
    expect(result.steps.map(({ verdict }) => verdict)).toEqual(['wrong', 'skipped', 'skipped', 'skipped']);
    expect(result.subject).toBeNull();
  });

  test('only the demo can inject faults into the robot', async () => {
    const fault = createCatalogue({ sitePath: join(dir, 'sim', 'site.yaml') })['sim fault'];
    const context = { signal: new AbortController().signal, onProgress: () => {} };
    sim.setFault('turned-by-hand', false);
    const options = fault?.with.parse({ fault: 'cut', on: true, until: 'not-connected' });
    await expect(fault?.run(options, context)).rejects.toThrow(GwError);
    expect(sim.faults().some(({ on }) => on)).toBe(false);
  });
});
