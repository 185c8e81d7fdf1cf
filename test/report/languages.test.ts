import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CheckRecord, listChecklists, loadChecklist, type StepResult } from '../../src/lib/checklist/index.ts';
import { recordDocument, writeDocumentAs } from '../../src/lib/report/index.ts';
import { createCatalogue } from '../../src/lib/toolkit/catalogue.ts';
import { fontsDir, readPdf } from './pdf-reader.ts';
import { recordOf, robotOf, stepOf, verificationOf } from './records.ts';

const dir = join(import.meta.dirname, '..', '..', 'checklists');
const names = await listChecklists(dir);
const lists = await Promise.all(names.map((name) => loadChecklist(join(dir, `${name}.yaml`), createCatalogue())));

/** Words that every text of some length has in one language, and none in the other. */
const english = /\b(the|is|are|and|of|with|this|that|no|by|from|to|step|checked|wrong|skipped|signed|verified)\b/i;
const german =
  /\b(der|die|das|ist|sind|und|mit|nicht|kein|keine|von|vom|bis|zur|dem|Schritt|gepr.ft|fehlerhaft|signiert|Nachweis)\b/i;

/** A record of every verdict, with the titles of a built-in checklist. */
function recordFor(list: (typeof lists)[number]): CheckRecord {
  const kinds: Partial<StepResult>[] = [
    {},
    { verdict: 'wrong' },
    { verdict: 'wrong', deviation: { reason: '443', approvedBy: 'K. Muster', at: '2026-11-21T10:00:00.000Z' } },
    { verdict: 'skipped' },
    { verdict: 'not-checked' },
    { verdict: 'not-checked', leftOut: true },
    {
      kind: 'confirm',
      answer: {
        ...{ answer: 'yes', by: 'Ada', initials: 'A' },
        ...{ remark: null, value: null, attachments: [], at: null },
      },
    },
    {
      kind: 'confirm',
      verdict: 'wrong',
      answer: {
        ...{ answer: 'no', by: null, initials: null },
        ...{ remark: null, value: null, attachments: [], at: null },
      },
    },
  ];
  const steps = list.steps.map(({ id, title, titleDe, section }, at) =>
    stepOf({ id, title, ...(titleDe !== undefined && { titleDe }), section, ...kinds[at % kinds.length] }),
  );
  const counts = { ok: 0, wrong: 0, skipped: 0, notChecked: 0 };
  const sections = list.sections.map(({ id, title, titleDe }) => ({
    ...{ id, title, about: null, ok: false, counts },
    ...(titleDe !== undefined && { titleDe }),
  }));
  const redLine = {
    id: 'tablet-open',
    title: 'ADB port of the tablet',
    detail: 'The port is open.',
    remedy: 'Close it.',
  };
  const { title, titleDe } = list;
  return recordOf(
    [robotOf(steps, { site: 'Lobby 7', sections, redLines: [redLine], customer: { company: 'X AG', name: null } })],
    {
      checklist: {
        ...{ name: list.name, title, purpose: 'p', phase: list.phase, file: 'x.yaml', sha256: 'ab'.repeat(32) },
        ...(titleDe !== undefined && { titleDe }),
      },
      technician: { name: 'Ada', initials: 'A' },
      interrupted: true,
      leftOut: true,
      resumedAt: ['2026-11-21T09:30:00.000Z'],
    },
  );
}

async function partForTheCustomer(record: CheckRecord, lang: 'de' | 'en', verdict: 'ok' | 'wrong' | 'not-checked') {
  const model = recordDocument(record, verificationOf(record, verdict), { lang, madeAt: new Date(0) });
  const { pages } = readPdf((await writeDocumentAs(model, 'pdf', fontsDir)).content as Uint8Array);
  const text = pages.join(' ').replace(/\s+/g, ' ');
  const annex = text.indexOf(lang === 'de' ? 'Technischer Anhang (' : 'Technical annex');
  expect(annex).toBeGreaterThan(500);
  return text.slice(0, annex);
}

describe('built-in checklists', () => {
  it('have every title in both languages', () => {
    expect(lists.length).toBeGreaterThan(4);
    const open = lists.flatMap((list) =>
      [list, ...list.sections, ...list.steps].filter(
        ({ title, titleDe }) => titleDe === undefined || titleDe === title,
      ),
    );
    expect(open.map(({ title }) => title)).toEqual([]);
    for (const { title, titleDe } of lists.flatMap((list) => [list, ...list.sections, ...list.steps])) {
      expect(title).not.toMatch(german);
      expect(titleDe).not.toMatch(english);
    }
  });
});

describe('the part of a record that the customer signs', () => {
  it.each(names)('has no word of the other language, for the checklist %s', async (name) => {
    const list = lists[names.indexOf(name)];
    if (list === undefined) throw new Error('no such list');
    const verdicts = ['ok', 'wrong', 'not-checked'] as const;
    for (const verdict of name === 'site' ? verdicts : [verdicts[names.indexOf(name) % 3] ?? 'ok']) {
      const record = recordFor(list);
      const [de, en] = [
        await partForTheCustomer(record, 'de', verdict),
        await partForTheCustomer(record, 'en', verdict),
      ];
      expect(english.exec(de)?.[0]).toBeUndefined();
      expect(german.exec(en)?.[0]).toBeUndefined();
      expect(de).toMatch(german);
      expect(en).toMatch(english);
    }
  });
});
