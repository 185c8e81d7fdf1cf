import type { Cell, Lamp, Note, PageState } from '../model.ts';
import { cellText, noteText, textsOf } from './catalogue.ts';

/** Whoever types a command is the technician whom the pages name to call. */
const forTechnicians: Readonly<Partial<Record<Note['code'], string>>> = {
  facts: 'Facts that orders rely on are not verified on this robot.',
  'gate-closed': 'The robot must not drive now.',
  'not-connected': 'The robot is not connected.',
};

/** Words that belong to the cell behind or before them; between the others stands a comma. */
const leading: ReadonlySet<string> = new Set(['since']);
const trailing: ReadonlySet<string> = new Set(['since', 'kept']);

/** The view model in English sentences, for commands. */
export function stateTexts(state: PageState) {
  const { t, f } = textsOf('en', state.timeZone, 'technician');
  // A terminal cell of its own between number and unit would be cut as any other.
  const plain = (text: string) => text.replaceAll('\u00a0', ' ');
  const texts = (all: readonly Cell[]) =>
    all.map((cell) => plain('technical' in cell ? cell.technical : cellText(cell, t, f)));
  const cells = (all: readonly Cell[]) => texts(all).join(' ');
  const listed = (all: readonly Cell[]) =>
    texts(all).reduce((line, text, at, list) => {
      if (at === 0) return text;
      return `${line}${leading.has(list[at - 1] ?? '') || trailing.has(text) ? ' ' : ', '}${text}`;
    }, '');
  const note = (one: Note) => forTechnicians[one.code] ?? plain(noteText(one, t, f));
  const doubtOf = ({ stale, doubts: [doubt] }: PageState['battery']) =>
    stale === null ? (doubt === undefined ? null : t.doubts[doubt]) : t.stale[stale];
  return {
    headline: plain(t.headline[state.headline.code](state, f)),
    notes: state.headline.notes.map(note),
    gateNotes: state.gate.notes.map(note),
    /** Why the value of the battery is not current; null: it is. */
    batteryDoubt: doubtOf(state.battery),
    lamp: ({ id, level, state: said }: Lamp) => ({ title: t.lamps[id], state: listed(said) || t.levels[level] }),
    /** The cells of the rows with this label. */
    rows: ({ rows }: Lamp, label: string) => rows.filter((row) => row.label === label).map((row) => cells(row.cells)),
    run: state.run && plain(t.run(state.run, f)),
  };
}
