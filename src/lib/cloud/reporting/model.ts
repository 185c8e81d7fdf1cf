export interface CurrentFaults {
  /** Faults that are present now, by a key that stays the same while the fault does. */
  readonly present: readonly PresentFault[];
  /** Starts of the keys of faults that cannot be checked now: they are neither raised nor cleared. */
  readonly unchecked: readonly string[];
}

export interface PresentFault {
  /** `service.chassis`, `alert.1024`. */
  readonly key: string;
  readonly text: string;
  /** Number that the chassis gives, passed through; null: none. */
  readonly number: number | null;
  readonly mark: 'BELEGT' | 'HINWEIS' | 'VORSICHT' | 'OFFEN';
}

/** State of the reports of this robot to the cloud. */
export interface ReportingView {
  readonly telemetry: TelemetryView;
  readonly faults: FaultsView;
  readonly shadow: ShadowView;
}

export interface TelemetryView {
  readonly intervalS: number;
  /** Messages that the outbox accepted since the start of gw. */
  readonly accepted: number;
  /** Messages that were not made, or that the outbox refused, since the start of gw. */
  readonly skipped: number;
  /** Why the last one was skipped; null: none was since the last accepted one. */
  readonly trouble: string | null;
}

export interface FaultsView {
  /** Faults that the cloud has as raised, or will have. */
  readonly raised: readonly (Pick<PresentFault, 'key' | 'text' | 'number' | 'mark'> & {
    readonly faultId: string;
    /** 'not-checked': whether it is still present cannot be seen now. */
    readonly state: 'present' | 'gone' | 'not-checked';
    /** How often it appeared since it was raised. */
    readonly occurrences: number;
  })[];
  /** How many present faults are not reported, because too many are raised. */
  readonly unreported: number;
  /** Why something could not be reported or saved; null: nothing. */
  readonly trouble: string | null;
}

export interface ShadowView {
  /**
   * Of the last update. 'not-answered': it was given to the outbox, and no answer came yet; a broker without a shadow
   * service never answers.
   */
  readonly status: 'accepted' | 'not-answered' | 'rejected' | 'not-sent';
  /** One sentence for a person. */
  readonly detail: string;
  /** Of the newest accepted state; null: none since the start of gw. */
  readonly version: number | null;
  /** The last rejection since the last accepted state. */
  readonly rejected: { readonly code: string | number; readonly message: string; readonly at: string } | null;
}
