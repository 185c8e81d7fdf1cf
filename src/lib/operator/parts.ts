import type { LastHour, PageState } from '../pages/index.ts';
import type { SupportView } from '../tunnel/index.ts';
import type { Assets } from './assets.ts';
import type { ChassisReads } from './chassis/chassis-reads.ts';
import type { Outflow } from './connections/outflow.ts';
import type { LiveEvents } from './events.ts';
import type { Incidents } from './incidents/incidents.ts';
import type { Journal } from './journal.ts';
import type { LogLevelControl } from './log-level.ts';
import type { MediaLibrary } from './media/media.ts';
import type { OperatorOptions } from './model.ts';
import type { Peer } from './peer.ts';
import type { Sessions } from './sign-in/sessions.ts';
import type { FailedDrive } from './view/failed-drive.ts';
import type { CloudNow } from './view/parts.ts';

/** The dependencies of the handlers, created once per start of the server. */
export interface Parts extends Omit<OperatorOptions, 'assetsDir' | 'hostName' | 'journal' | 'cloud' | 'logSetting'> {
  readonly cloud: () => CloudNow;
  /** State of remote support, also where there is none. */
  readonly supportView: () => SupportView;
  /** The view model of the pages, with a new id. */
  readonly pageState: () => PageState;
  /** How long ago the state of this id was made; null: not known. */
  readonly stateAgeMs: (id: string) => number | null;
  /** A person asks for the end of what runs now, or only of the run of this id. */
  readonly endAsked: (id: string | undefined) => void;
  readonly failedSeen: FailedDrive['seen'];
  /** For the charts of the technician page. */
  readonly lastHour: () => LastHour;
  readonly assets: Assets;
  readonly journal: Journal;
  readonly logLevel: LogLevelControl;
  /** Requests aborted by their clients since the start. */
  readonly clientAborts: () => number;
  readonly reads: ChassisReads;
  readonly events: LiveEvents;
  readonly library: MediaLibrary;
  readonly incidents: Incidents;
  readonly outflow: Outflow;
  readonly sessions: Sessions;
  readonly voice: Peer | null;
  readonly building: Peer | null;
}
