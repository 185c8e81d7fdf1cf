import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CheckRecord, listChecklists, loadChecklist, type StepResult } from '../../src/lib/checklist/index.ts';
import { recordDocument, writeDocumentAs } from '../../src/lib/report/index.ts';
import { createCatalogue } from '../../src/lib/toolkit/catalogue/catalogue.ts';
import { elementsOf, type ReadElement, readMarkup } from '../overlays/render/markup-reader.ts';
import { fontsDir } from './pdf-reader.ts';
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
  const bare = { remark: null, value: null, attachments: [], at: null };
  const kinds: Partial<StepResult>[] = [
    {},
    { verdict: 'wrong' },
    { verdict: 'wrong', deviation: { reason: '443', approvedBy: 'K. Muster', at: '2026-11-21T10:00:00.000Z' } },
    { verdict: 'skipped' },
    { verdict: 'not-checked' },
    { verdict: 'not-checked', leftOut: true },
    { kind: 'confirm', answer: { answer: 'yes', by: 'Ada', initials: 'A', ...bare } },
    { kind: 'confirm', verdict: 'wrong', answer: { answer: 'no', by: null, initials: null, ...bare } },
  ];
  const steps = list.steps.map(({ id, title, titleDe, section }, at) =>
    stepOf({ id, title, ...(titleDe !== undefined && { titleDe }), section, ...kinds[at % kinds.length] }),
  );
  const counts = { ok: 0, wrong: 0, skipped: 0, notChecked: 0 };
  const sections = list.sections.map(({ id, title, titleDe }) => ({
    ...{ id, title, about: null, ok: false, counts },
    ...(titleDe !== undefined && { titleDe }),
  }));
  const redLine = { id: 'tablet-open', title: 'ADB port of the tablet', detail: 'It is open.', remedy: 'Close it.' };
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

/** The words of an element, apart where other elements are between them. */
function wordsOf({ children }: ReadElement): string {
  return children.map((child) => (typeof child === 'string' ? child : wordsOf(child))).join(' ');
}

async function partForTheCustomer(record: CheckRecord, lang: 'de' | 'en', verdict: 'ok' | 'wrong' | 'not-checked') {
  const model = recordDocument(record, verificationOf(record, verdict), { lang, madeAt: new Date(0) });
  // What a PDF adds is held against both languages by the test of the letter.
  const { content } = await writeDocumentAs(model, 'html', fontsDir);
  const [body] = [...elementsOf(readMarkup(String(content)))].filter(({ name }) => name === 'body');
  const text = body ? wordsOf(body) : '';
  const annex = text.indexOf(lang === 'de' ? 'Technischer Anhang (' : 'Technical annex');
  expect(annex).toBeGreaterThan(500);
  return text.slice(0, annex);
}

describe('built-in checklists', () => {
  it('have every title in both languages', () => {
    expect(lists.length).toBeGreaterThan(4);
    for (const { title, titleDe } of lists.flatMap((list) => [list, ...list.sections, ...list.steps])) {
      expect([undefined, title]).not.toContain(titleDe);
      expect(title).not.toMatch(german);
      expect(titleDe).not.toMatch(english);
    }
  });
});

describe('the part of a record that the customer signs', () => {
  it.each(names)('has no word of the other language, for the checklist %s', async (name) => {
    const list = lists[names.indexOf(name)];
    if (list === undefined) throw new Error('no such list');
    const record = recordFor(list);
    for (const verdict of ['ok', 'wrong', 'not-checked'] as const) {
      const de = await partForTheCustomer(record, 'de', verdict);
      const en = await partForTheCustomer(record, 'en', verdict);
      expect(english.exec(de)?.[0]).toBeUndefined();
      expect(german.exec(en)?.[0]).toBeUndefined();
      expect(de).toMatch(german);
      expect(en).toMatch(english);
    }
  });
});
