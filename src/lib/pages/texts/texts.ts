import type { doubts, headlineCodes, LampId, lampLevels, Note, PageState, Run, staleReasons } from '../model.ts';
import type { Choice } from '../viewer.ts';
import type { deLabels, deUi, deWords } from './de-words.ts';
import type { deDelivery } from './delivery.ts';
import type { Format } from './format.ts';
import type { deIncident } from './incident.ts';
import type { deMedia } from './media.ts';
import type { deService } from './service-de.ts';

export type WordCode = keyof typeof deWords;
export type LabelCode = keyof typeof deLabels;

/** Every text of the pages in one language. A missing or additional text does not compile. */
export interface Texts {
  readonly headline: Readonly<Record<(typeof headlineCodes)[number], (state: PageState, format: Format) => string>>;
  readonly notes: { readonly [C in Note['code']]: (note: Extract<Note, { code: C }>, format: Format) => string };
  readonly failure: Readonly<Record<string, string>>;
  readonly conditions: Readonly<Record<string, string>>;
  readonly stale: Readonly<Record<(typeof staleReasons)[number], string>>;
  readonly doubts: Readonly<Record<(typeof doubts)[number], string>>;
  readonly basis: Readonly<Record<NonNullable<PageState['pose']['basis']>, string>>;
  readonly facts: Readonly<Record<string, string>>;
  readonly origins: Readonly<Record<'surface' | 'command' | 'cloud', string>>;
  readonly refusals: Readonly<Record<string, string>>;
  readonly failReason: (code: number) => string;
  /** Of a search for stations. */
  readonly found: (count: number) => string;
  /** Other robots that the map does not show. */
  readonly robotsElsewhere: (count: number) => string;
  /** Where the robot stands beside its goal; null: within the tolerance. */
  readonly offGoal: (offM: number | null, offDeg: number | null, format: Format) => string;
  readonly lamps: Readonly<Record<LampId, string>>;
  readonly levels: Readonly<Record<(typeof lampLevels)[number], string>>;
  readonly labels: Readonly<Record<LabelCode, string>>;
  readonly words: Readonly<Record<WordCode, string>>;
  readonly run: (run: Run, format: Format) => string;
  readonly failed: (run: Omit<Run, 'forMs'>, format: Format) => string;
  readonly failedEarlier: (count: number) => string;
  /** `label`: the place or tour, as `Format.named` has it. */
  readonly ask: (choice: Choice, label: string) => string;
  readonly ui: Readonly<typeof deUi>;
  readonly service: Readonly<typeof deService>;
  readonly media: Readonly<typeof deMedia>;
  readonly incident: Readonly<typeof deIncident>;
  readonly delivery: Readonly<typeof deDelivery>;
}
