import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CheckRecord,
  type RecordVerification,
  recordSchema,
  recordVerificationSchema,
  type StepResult,
} from '../../src/lib/checklist/index.ts';
import type { Block, DocumentModel } from '../../src/lib/report/document.ts';
import { recordDocument, recordToJUnit, writeDocumentAs } from '../../src/lib/report/index.ts';
import { recordTexts } from '../../src/lib/report/texts/record.ts';
import { oddText } from '../overlays/arbitrary.ts';
import { elementsOf, readMarkup, textOf } from '../overlays/render/markup-reader.ts';
import { isFull, runs } from '../properties.ts';
import { fontsDir, readPdf } from './pdf-reader.ts';
import {
  answeredStep,
  deviantStep,
  measuredStep,
  openStep,
  recordOf,
  robotOf,
  stepOf,
  verificationOf,
  wrongStep,
} from './records.ts';
import { parseXml } from './xml.ts';

const madeAt = new Date('2026-11-21T12:00:00Z');
const redLine = {
  id: 'tablet-open',
  title: 'The tablet was left open',
  detail: '192.0.2.4:5555 answers',
  remedy: 'Run gw kiosk lock.',
};

const good = recordOf([robotOf([stepOf(), answeredStep, measuredStep])]);
const bad = recordOf(
  [robotOf([stepOf(), answeredStep, openStep, deviantStep, wrongStep], { redLines: [redLine], software: null })],
  { signature: null },
);

function documentOf(record: CheckRecord, verdict: RecordVerification['verdict'] = 'ok', lang: 'de' | 'en' = 'en') {
  return recordDocument(record, verificationOf(record, verdict), { lang, madeAt });
}

function banners({ blocks }: DocumentModel) {
  return blocks.flatMap((block) => (block.kind === 'banner' ? [{ tone: block.tone, title: block.title }] : []));
}

function tonesOf(model: DocumentModel): string[] {
  return [...JSON.stringify(model).matchAll(/"tone":"(\w+)"/g)].map(([, tone = '']) => tone);
}

async function htmlText(model: DocumentModel): Promise<string> {
  return textOf(readMarkup(String((await writeDocumentAs(model, 'html', fontsDir)).content)));
}

async function pdfPages(model: DocumentModel): Promise<readonly string[]> {
  const { content } = await writeDocumentAs(model, 'pdf', fontsDir);
  return readPdf(content as Uint8Array).pages;
}

describe('the samples of these tests', () => {
  it.each([good, bad])('are records', (record) => {
    expect(recordSchema.parse(record)).toEqual(record);
    expect(recordVerificationSchema.parse(verificationOf(record))).toBeDefined();
  });
});

describe('the card of a step', () => {
  const cardText = (why: string, ...expectations: [path: string, found: string][]) => {
    const unmet = expectations.map(([path, found]) => ({ path, expected: "'ok'", found, verdict: 'wrong' as const }));
    const { blocks } = documentOf(recordOf([robotOf([{ ...wrongStep, why, expectations: unmet }])]), 'ok', 'de');
    return JSON.stringify(blocks.filter(({ kind }) => kind === 'card'));
  };

  it('has a path only where the reason does not say what was found there', () => {
    const said = cardText(
      'refused; 1 of 1 not checked: It docks (too near); A stop arrives: none came',
      ['verdict', "'refused'"],
      ['findings', '1 of 1 not checked: It docks (too near)'],
      ['findings[id=stop].verdict', "'wrong': none came"],
    );
    expect(said).toContain('refused; 1 of 1 not checked');
    expect(said).not.toContain('findings');
    expect(cardText('It failed.', ['findings', '1 of 1 wrong: It docks'])).toContain(
      "findings: expected 'ok', found 1 of 1 wrong: It docks",
    );
  });
});

describe('the summary', () => {
  it('is green only when every step is ok and the signature was verified', () => {
    expect(banners(documentOf(good))).toEqual([{ tone: 'good', title: 'All 3 steps are ok' }]);
    const linesOf = (more: object) => documentOf({ ...good, ...more }).blocks.find(({ kind }) => kind === 'banner');
    expect(linesOf({})).toMatchObject({ lines: [] });
    expect(linesOf({ interrupted: true, leftOut: true })).toMatchObject({ lines: [expect.stringMatching(/\. .+\./)] });
    expect(JSON.stringify(documentOf(good))).toContain('"signed with the key of the device SN0007, and verified"');
  });

  it('states not verified, not signed and failed, and nothing in the document is green then', () => {
    const unsigned = { ...good, signature: null };
    const notVerified = 'All 3 steps are recorded as ok, but this record is not verified';
    for (const [model, title, tone] of [
      [documentOf(good, 'not-checked'), 'Signed, but NOT VERIFIED', 'open'],
      [documentOf(good, 'wrong'), 'Signed, but verification FAILED', 'bad'],
      [documentOf(unsigned, 'not-checked'), 'NOT SIGNED', 'open'],
      // A verification result of ok cannot stand in for a missing signature.
      [documentOf(unsigned, 'ok'), 'NOT SIGNED', 'open'],
      [documentOf(unsigned, 'wrong'), 'NOT SIGNED, and verification FAILED', 'bad'],
    ] as const) {
      expect(banners(model).slice(0, 2)).toEqual([
        { tone: 'open', title: notVerified },
        { tone, title },
      ]);
      expect(tonesOf(model)).not.toContain('good');
    }
  });

  it('says on page 1, on every page and in every form that the robot was a simulator, and nothing is green then', async () => {
    const simulated = { ...good, robots: good.robots.map((robot) => ({ ...robot, simulated: true })) };
    for (const lang of ['de', 'en'] as const) {
      const { simulated: title, simulatedShort, simulatedText } = recordTexts[lang];
      const model = documentOf(simulated, 'ok', lang);
      expect(banners(model)[0]).toEqual({ tone: 'bad', title });
      expect(tonesOf(model)).not.toContain('good');
      expect(await htmlText(model)).toContain(title);
      expect(String((await writeDocumentAs(model, 'md', fontsDir)).content)).toContain(title);
      const [first = '', ...others] = await pdfPages(model);
      expect(first).toContain(title);
      expect(first).toContain(simulatedText);
      for (const page of others) expect(page).toContain(simulatedShort);
      for (const real of [false, null, undefined]) {
        const robots = good.robots.map((robot) => ({ ...robot, simulated: real }));
        expect(JSON.stringify(documentOf({ ...good, robots }, 'ok', lang))).not.toContain(simulatedShort);
      }
    }
    expect(recordTexts.en.simulated).toBe('SIMULATED ROBOT: not an acceptance');
    expect(recordToJUnit(simulated, verificationOf(simulated))).toContain(
      '<property name="gw.simulated" value="SIMULATED ROBOT: not an acceptance"/>',
    );
  });

  it('says what the program checked, and what rests on the word of a person alone', () => {
    const said = { ...answeredStep, id: 'said' };
    const both = { ...answeredStep, id: 'both', run: 'record state' };
    const record = recordOf([robotOf([stepOf(), said, both])]);
    for (const [lang, head, alone, part] of [
      [
        'en',
        '1 checked by the program, 1 in part, 1 only the word of a person',
        'Word of a person, not checked',
        'as far as it can know',
      ],
      [
        'de',
        '1 vom Prüfprogramm geprüft, 1 zum Teil, 1 nur Wort einer Person',
        'Wort einer Person, ungeprüft',
        'soweit es das kann',
      ],
    ] as const) {
      const text = JSON.stringify(documentOf(record, 'ok', lang));
      for (const one of [head, alone, part]) expect(text).toContain(one);
    }
  });

  it('distinguishes accepted deviations, wrong steps, red lines and an incomplete run, none of them green', () => {
    const heads = [
      [recordOf([robotOf([stepOf(), deviantStep])]), 'open', 'Accepted with 1 deviation'],
      [recordOf([robotOf([stepOf(), wrongStep])]), 'bad', 'Not accepted: 1 requirement is not met'],
      [recordOf([robotOf([stepOf()], { redLines: [redLine] })]), 'bad', 'Not accepted: 0 not met, 1 more red line'],
      [recordOf([robotOf([stepOf(), openStep])]), 'open', 'Not complete: 1 step is skipped or not checked'],
    ] as const;
    for (const [record, tone, title] of heads) expect(banners(documentOf(record))[0]).toEqual({ tone, title });
  });

  it('counts each step once, an accepted one as a deviation', () => {
    const counts = ['1 not met', '1 not checked', '0 skipped', '1 accepted deviations', '2 ok'];
    const cells = documentOf(bad).blocks.flatMap((block) => (block.kind === 'figures' ? block.cells : []));
    expect(cells.map(({ value, label }) => `${value} ${label}`)).toEqual(counts);
  });

  it('is one page of a PDF, with the places for two signatures, whatever the record holds', {
    tags: 'property',
  }, async () => {
    const long = 'A very long text about what was found at this place, with every detail of it. '.repeat(
      isFull ? 12 : 4,
    );
    const steps = Array.from({ length: 2 }, (_, at) =>
      stepOf({ ...wrongStep, id: `s${at}`, title: `${at} ${long}`, why: long }),
    );
    const robots = Array.from({ length: 4 }, (_, at) =>
      robotOf(steps, {
        ...{ serial: `SN${at}${'X'.repeat(120)}`, site: long.slice(0, 119), software: null },
        ...{ customer: { company: long, name: long }, operator: { company: long, name: long }, simulated: true },
      }),
    );
    const record = recordOf(robots, {
      technician: { name: long, initials: 'ABCDEF' },
      checklist: { ...good.checklist, title: long, file: `${'f'.repeat(200)}.yaml` },
      interrupted: true,
      leftOut: true,
      resumedAt: [good.startedAt],
    });
    const verification = verificationOf(record, 'not-checked');
    const finding = { id: 'chain' as const, title: long, verdict: 'not-checked' as const, detail: long };
    const findings = Array(8).fill(finding);
    for (const lang of ['de', 'en'] as const) {
      const model = recordDocument(record, { ...verification, findings }, { lang, madeAt });
      const [first = ''] = await pdfPages(model);
      const texts = recordTexts[lang];
      expect(first).toContain(texts.signForName.customer(''));
      expect(first.split(texts.signLines[1] ?? '').length).toBe(3);
    }
  });

  it('has every deviation above the signatures, and no half-empty first page', async () => {
    const deviant = Array.from({ length: 12 }, (_, at) =>
      stepOf({ ...deviantStep, id: `d${at}`, title: `Point ${at}.` }),
    );
    for (const lang of ['de', 'en'] as const) {
      const texts = recordTexts[lang];
      for (const steps of [[stepOf()], [stepOf(), ...deviant.slice(0, 2)], [stepOf(), ...deviant]]) {
        const pages = await pdfPages(documentOf(recordOf([robotOf(steps)]), 'ok', lang));
        const text = pages.join('\n');
        const signed = text.indexOf(texts.signFor.customer);
        expect(signed).toBeGreaterThan(0);
        for (const { title } of steps.slice(1)) expect(text.indexOf(title)).toBeLessThan(signed);
        // The sentence of acceptance and its places are on one page; a page that is not full has what follows them.
        const page = pages.find((one) => one.includes(texts.signFor.customer)) ?? '';
        expect(page).toContain(texts.acceptanceTitle);
        if (steps.length === 1) expect(page).toContain(texts.notOkTitle);
        if (steps.length > 3) expect(pages[0]).toContain(deviant[4]?.title);
      }
    }
  });

  it('explains the marks where the first one stands, in both languages', () => {
    for (const lang of ['de', 'en'] as const) {
      const blocks = documentOf(good, 'ok', lang).blocks;
      const first = blocks.findIndex((block) => JSON.stringify(block).includes('[BELEGT'));
      expect(blocks[first]?.kind).toBe('facts');
      expect(JSON.stringify(blocks[first + 1])).toContain(JSON.stringify(recordTexts[lang].marks));
    }
  });

  it('names subject, persons, times, verified sections, and the whole of the record in both languages', async () => {
    const texts = ['Lobby, robot 7', 'SN0007', '2.9.3 [BELEGT]', 'Ada Techniker, AT', good.id, 'gw 0.1.0'];
    const first = (await pdfPages(documentOf(good)))[0]?.replace(/\s+/g, ' ') ?? '';
    for (const text of texts) expect(first).toContain(text);
    const german = (await htmlText(documentOf(good, 'ok', 'de'))).replace(/\s+/g, ' ');
    for (const text of texts) expect(german).toContain(text);
  });

  it('names customer and operator of the site file, and has its times in the time zone of the site', async () => {
    const parties = {
      customer: { company: 'Klinikum Łódź GmbH', name: 'Dr. Łukasz Żółć' },
      operator: { company: 'Robots GmbH', name: 'Γιώργος Παπαδόπουλος' },
    };
    const record = recordOf([robotOf([stepOf()], parties)], {
      timeZone: 'Europe/Berlin',
      technician: { name: 'Дмитрий', initials: 'ДИ' },
    });
    const first = ((await pdfPages(documentOf(record, 'ok', 'de')))[0] ?? '').replace(/\s+/g, '');
    for (const text of [
      'Kunde Klinikum Łódź GmbH, Dr. Łukasz Żółć',
      'Betreiber Robots GmbH, Γιώργος Παπαδόπουλος',
      'Für den Kunden, Klinikum Łódź GmbH',
      'Techniker Дмитрий, ДИ',
      '21.11.2026, 10:00 MEZ bis 21.11.2026, 11:30 MEZ, insgesamt 1 Stunde',
    ]) {
      expect(first).toContain(text.replace(/\s+/g, ''));
    }
    expect(await htmlText(documentOf(record))).toContain(
      '21/11/2026, 10:00 CET to 21/11/2026, 11:30 CET, 1 hour in all',
    );
  });

  it('has its times in UTC, and says so, where the file names no time zone or none that exists', () => {
    for (const more of [{}, { timeZone: 'Europe/Nowhere' }]) {
      const model = documentOf(recordOf([robotOf([stepOf()])], more), 'ok', 'de');
      expect(JSON.stringify(model)).toContain('21.11.2026, 09:00 UTC bis');
    }
  });
});

/** The rows of the table of skipped steps. */
function skippedIn(blocks: readonly Block[]) {
  const at = blocks.findIndex((block) => block.kind === 'heading' && block.text.startsWith('Skipped, because'));
  return (blocks[at + 1] as Extract<Block, { kind: 'table' }>).rows;
}

describe('the document', () => {
  it('has red lines before wrong steps, these before accepted ones, and all before what is ok', () => {
    const { blocks } = documentOf(bad);
    const cards = blocks.flatMap((block) => (block.kind === 'card' ? [`${block.mark}: ${block.title}`] : []));
    expect(cards).toEqual([
      '1  RED LINE: The tablet was left open',
      '2  NOT MET: The pose is reported in degrees',
      '3  NOT MET, ACCEPTED DEVIATION: MQTT on 8883',
      '4  NOT CHECKED: The first drive',
    ]);
    // The first one has the deviations.
    const [, list] = blocks.filter((block) => block.kind === 'table');
    expect(list?.kind === 'table' && list.rows.map(({ cells, tone }) => [cells[0], cells[1], tone])).toEqual([
      ['1', 'The tablet was left open', 'bad'],
      ['2', 'The pose is reported in degrees', 'bad'],
      ['3', 'MQTT on 8883', 'open'],
      ['4', 'The first drive', 'open'],
    ]);
    const lastCard = blocks.findLastIndex(({ kind }) => kind === 'card');
    const ok = blocks.findLastIndex((block) => block.kind === 'heading' && block.text === 'What is ok');
    expect(ok).toBeGreaterThan(lastCard);
  });

  it('shows a deviation with its reason, who approved it and when', async () => {
    const text = (await htmlText(documentOf(bad))).replace(/\s+/g, '');
    expect(text).toContain('MQTTon8883NOTMET443isenoughhereK.Muster21/11/2026,10:00UTC');
    expect(text).toContain('Thesestepsarenotokandstayso.');
  });

  it('shows measured values with unit, mark and source, answers with their person, and photos by their hash', () => {
    const text = String(JSON.stringify(documentOf(good).blocks));
    expect(text).toContain('["The ramp at the lift","height: 12 mm","BELEGT","Ada Techniker, ruler"]');
    expect(text).toContain(
      'Word of a person, not checked: confirmed by Ada Techniker, AT, 21/11/2026, 09:10 UTC\\nRemark: wiped once more\\nPhotos: 001-sensors.jpg',
    );
    expect(text).toContain('cd'.repeat(32));
  });

  it('lists skipped steps in a table, with what each waits for', () => {
    const skipped = stepOf({ id: 'later', title: 'Later', verdict: 'skipped', why: "It needs 'pose-unit'." });
    const { blocks } = documentOf(recordOf([robotOf([wrongStep, skipped])]));
    expect(blocks.filter(({ kind }) => kind === 'card')).toHaveLength(1);
    expect(skippedIn(blocks)).toEqual([
      { cells: ['2', 'Later', "It needs 'pose-unit'.", 'Addressing rules, rule 6'], tone: 'open' },
    ]);
  });

  it('lists steps that were left out apart from those that could not be checked', () => {
    const left = stepOf({ title: 'Left for later', verdict: 'not-checked', leftOut: true, why: 'left out' });
    const { blocks } = documentOf(recordOf([robotOf([openStep, left])]));
    expect(blocks.filter(({ kind }) => kind === 'card')).toHaveLength(1);
    expect(skippedIn(blocks).map(({ cells }) => cells[1])).toEqual(['Left for later']);
  });

  it('names the robot above each of its parts when there are several', () => {
    const model = documentOf(recordOf([robotOf([wrongStep]), robotOf([stepOf()], { serial: 'SN0008' })]));
    const names = model.blocks.flatMap((block) => (block.kind === 'heading' && block.level === 3 ? [block.text] : []));
    expect(names.filter((name) => name.endsWith('SN0007')).length).toBeGreaterThan(1);
    expect(names.filter((name) => name.endsWith('SN0008')).length).toBeGreaterThan(1);
  });

  it('truncates a text that is too long for paper, with the number of characters cut', async () => {
    const model = documentOf(recordOf([robotOf([stepOf({ ...wrongStep, why: `${'word '.repeat(20_000)}end` })])]));
    const pages = await pdfPages(model);
    expect(pages.length).toBeLessThan(8);
    expect(pages.join(' ').replace(/\s+/g, ' ')).toContain('[... 96003 more characters in the file]');
  });

  it('has a German title for every finding of the verification', () => {
    const ids = recordVerificationSchema.shape.findings.element.shape.id.options;
    expect(Object.keys(recordTexts.de.findingTitles).sort()).toEqual([...ids].sort());
  });

  it('shows earlier results of a step that is not ok', () => {
    const again = stepOf({ ...wrongStep, earlier: measuredStep.earlier });
    const text = JSON.stringify(documentOf(recordOf([robotOf([again])])));
    expect(text).toContain('NOT CHECKED, 21/11/2026, 09:00 UTC: not answered');
  });

  it('says where titles stand in the language of the checklist', () => {
    const noteOf = (lang: 'de' | 'en', ...steps: StepResult[]) => {
      const record = recordOf([robotOf(steps)], { checklist: { ...good.checklist, titleDe: 'Inbetriebnahme' } });
      return JSON.stringify(documentOf(record, 'ok', lang)).includes(recordTexts[lang].titlesOfList);
    };
    expect(noteOf('de', stepOf({ titleDe: 'Das Fahrgestell antwortet' }))).toBe(false);
    expect(noteOf('de', stepOf({ titleDe: 'Das Fahrgestell antwortet' }), wrongStep)).toBe(true);
    expect(noteOf('en', stepOf({ titleDe: 'Das Fahrgestell antwortet' }), wrongStep)).toBe(true);
  });

  it('keeps its structure whatever its texts contain', { tags: 'property' }, async () => {
    // Every string of a record except its fixed keywords, replaced by unusual text.
    const closed = new Set(['run', 'confirm', 'measure', 'ok', 'wrong', 'skipped', 'not-checked', 'yes', 'no', 'skip']);
    const marks = new Set(['BELEGT', 'HINWEIS', 'VORSICHT', 'OFFEN', 'premises', 'site', 'handover', 'service']);
    const spoil = <T>(value: T, next: () => string): T => {
      if (typeof value === 'string') return (closed.has(value) || marks.has(value) ? value : next()) as T;
      if (Array.isArray(value)) return value.map((one) => spoil(one, next)) as T;
      if (value === null || typeof value !== 'object') return value;
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, spoil(one, next)])) as T;
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(oddText(), { minLength: 1, maxLength: 20 }),
        fc.constantFrom(good, bad),
        fc.constantFrom('ok', 'wrong', 'not-checked' as const),
        fc.constantFrom('de', 'en' as const),
        async (texts, sample, verdict, lang) => {
          let at = 0;
          const record = spoil(sample, () => texts[at++ % texts.length] ?? '');
          const verification = verificationOf(record, verdict);
          const model = recordDocument(record, verification, { lang, madeAt });
          const root = readMarkup(String((await writeDocumentAs(model, 'html', fontsDir)).content));
          expect([...elementsOf(root)].filter(({ name }) => ['script', 'img', 'iframe'].includes(name))).toEqual([]);
          expect((await pdfPages(model)).length).toBeGreaterThan(1);
          const suites = parseXml(recordToJUnit(record, verification)).children;
          expect(suites).toHaveLength(record.robots.length);
        },
      ),
      { numRuns: runs(10, 2) },
    );
  });
});

describe('JUnit of a record', () => {
  const suiteOf = (record: CheckRecord, verdict: RecordVerification['verdict'] = 'ok') =>
    parseXml(recordToJUnit(record, verificationOf(record, verdict))).children;
  const outcomes = (record: CheckRecord, verdict?: RecordVerification['verdict']) =>
    suiteOf(record, verdict).flatMap(({ children }) =>
      children
        .filter(({ name }) => name === 'testcase')
        .map(
          ({ children: inside }) => inside.find(({ name }) => !/properties|system-out/.test(name))?.name ?? 'passed',
        ),
    );

  it('has one suite per robot, and counts red lines as failures', () => {
    const two = recordOf([robotOf([stepOf()]), robotOf([wrongStep], { serial: 'SN0008', redLines: [redLine] })]);
    expect(suiteOf(two).map(({ attributes }) => attributes)).toMatchObject([
      { name: 'site.SN0007', tests: '2', failures: '0' },
      { name: 'site.SN0008', tests: '2', failures: '2' },
    ]);
  });

  it('passes the signature only when it was verified', () => {
    expect(outcomes(good)).toEqual(['passed', 'passed', 'passed', 'passed']);
    expect(outcomes(good, 'not-checked').at(-1)).toBe('error');
    expect(outcomes(good, 'wrong').at(-1)).toBe('failure');
    expect(outcomes({ ...good, signature: null }, 'ok').at(-1)).toBe('error');
  });

  it('keeps an accepted deviation as a failure, and names the person who accepted it', () => {
    const xml = recordToJUnit(bad, verificationOf(bad));
    expect(xml).toContain('<property name="deviation" value="443 is enough here; approved by K. Muster,');
    const verdicts: StepResult['verdict'][] = ['ok', 'ok', 'not-checked', 'wrong', 'wrong'];
    expect(bad.robots[0]?.steps.map(({ verdict }) => verdict)).toEqual(verdicts);
    expect(outcomes(bad)).toEqual(['passed', 'passed', 'error', 'error', 'failure', 'failure', 'error']);
  });
});
