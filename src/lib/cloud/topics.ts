import { SERIAL_ELEMENT, type Site } from '../site/index.ts';

export type TopicTemplates = NonNullable<Site['cloud']>['topics'];

/** The topics of one robot. */
export interface Topics {
  readonly telemetry: string;
  readonly faults: string;
  readonly records: string;
  readonly presence: string;
  readonly stop: string;
  readonly storage: string;
  readonly storageAnswer: string;
  readonly tunnels: string;
  /** Starts of the topics of the job service and of the shadow, without a final slash. */
  readonly jobs: string;
  readonly shadow: string;
}

/** The topics of a robot by the templates of the site file. */
export function topicsOf(templates: TopicTemplates, serial: string): Topics {
  const own = (template: string) =>
    template
      .split('/')
      .map((element) => (element === SERIAL_ELEMENT ? serial : element))
      .join('/');
  const storage = own(templates.storage);
  return {
    telemetry: own(templates.telemetry),
    faults: own(templates.faults),
    records: own(templates.records),
    presence: own(templates.presence),
    stop: own(templates.stop),
    storage,
    storageAnswer: `${storage}/answer`,
    tunnels: own(templates.tunnels),
    jobs: own(templates.jobs),
    shadow: own(templates.shadow),
  };
}

/** The topic filters that gw subscribes to; it accepts messages of no other topic. */
export function subscribedFilters({ stop, tunnels, jobs, shadow, storageAnswer }: Topics): readonly string[] {
  const answers = (start: string) => [`${start}/accepted`, `${start}/rejected`];
  return [
    // The stop first: it is active as soon as the first SUBSCRIBE is acknowledged.
    stop,
    `${jobs}/notify-next`,
    ...answers(`${jobs}/start-next`),
    ...answers(`${jobs}/+/update`),
    ...answers(`${jobs}/+/get`),
    ...answers(`${shadow}/update`),
    storageAnswer,
    tunnels,
  ];
}
