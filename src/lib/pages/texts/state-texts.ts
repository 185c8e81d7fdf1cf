import type { Cell, Lamp, PageState } from '../model.ts';
import { cellText, noteText, textsOf } from './catalogue.ts';

/** The view model in English sentences, for commands. */
export function stateTexts(state: PageState) {
  const { t, f } = textsOf('en', state.timeZone);
  // A terminal cell of its own between number and unit would be cut as any other.
  const plain = (text: string) => text.replaceAll('\u00a0', ' ');
  const cells = (all: readonly Cell[], gap = ' ') =>
    plain(all.map((cell) => ('technical' in cell ? cell.technical : cellText(cell, t, f))).join(gap));
  return {
    headline: plain(t.headline[state.headline.code](state, f)),
    notes: state.headline.notes.map((note) => plain(noteText(note, t, f))),
    gateNotes: state.gate.notes.map((note) => plain(noteText(note, t, f))),
    lamp: ({ id, level, state: said }: Lamp) => ({ title: t.lamps[id], state: cells(said, ', ') || t.levels[level] }),
    /** The cells of the rows with this label. */
    rows: ({ rows }: Lamp, label: string) => rows.filter((row) => row.label === label).map((row) => cells(row.cells)),
    run: state.run && plain(t.run(state.run, f)),
  };
}
