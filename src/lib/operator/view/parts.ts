import type { ChassisSnapshot } from '../../chassis/index.ts';
import type { CloudView } from '../../cloud/index.ts';
import type { DeliveryView } from '../../delivery/index.ts';
import type { MotionStatus } from '../../motion/index.ts';
import type { Cell, LabelCode, Lamp, LampId, WordCode } from '../../pages/index.ts';
import type { SupportView } from '../../tunnel/index.ts';
import type { GatewayHealth } from '../health.ts';
import type { NeighboursView } from '../model.ts';

/** The state of the cloud module, and the wall clock of the gateway for the age of a message. */
export interface CloudNow {
  readonly view: CloudView;
  readonly now: Date;
}

/** Everything that the pages are made from, at one moment. */
export interface Parts {
  readonly snapshot: ChassisSnapshot;
  readonly motion: MotionStatus;
  /** Null or absent: not set up. */
  readonly delivery?: DeliveryView | null;
  readonly health: GatewayHealth;
  readonly cloud: CloudNow;
  readonly support: SupportView;
  readonly neighbours: NeighboursView;
  /** Addresses of the open pages, by the socket they came through. */
  readonly viewers: { readonly onSite: readonly string[]; readonly remote: readonly string[] };
}

type Level = Lamp['level'];
type Rows = Lamp['rows'];

export const word = (code: WordCode): Cell => ({ word: code });
export const text = (foreign: string): Cell => ({ text: foreign });
export const count = (number: number, unit = ''): Cell => ({ number, digits: 0, unit });
export const technical = (sentence: string | null | undefined): Cell[] => (sentence ? [{ technical: sentence }] : []);
/** A row of the details; none without cells. */
export const row = (label: LabelCode, ...cells: readonly (Cell | readonly Cell[])[]): Rows => {
  const flat = cells.flat();
  return flat.length === 0 ? [] : [{ label, cells: flat }];
};
export const lamp = (id: LampId, level: Level, state: readonly Cell[], ...rows: readonly Rows[]): Lamp => ({
  id,
  level,
  state: [...state],
  rows: rows.flat(),
});
