/** The path element of a topic template that stands for the serial number of this robot. */
export const SERIAL_ELEMENT = '<serial>';

/** What gw appends to a template: the topics that it publishes to, and the filters that it subscribes to. */
interface TopicUse {
  readonly published: readonly string[];
  readonly subscribed: readonly string[];
}

const answers = (request: string) => [`${request}/accepted`, `${request}/rejected`];

/**
 * The topics of each template; `+` stands for the id of a job. In the order in which they are subscribed: the stop
 * first, so that it works as soon as the first SUBSCRIBE is acknowledged.
 */
export const topicUses = {
  stop: { published: [], subscribed: [''] },
  jobs: {
    published: ['/start-next', '/+/update', '/+/get'],
    subscribed: ['/notify-next', ...['/start-next', '/+/update', '/+/get'].flatMap(answers)],
  },
  shadow: { published: ['/update'], subscribed: answers('/update') },
  storage: { published: [''], subscribed: ['/answer'] },
  tunnels: { published: [], subscribed: [''] },
  telemetry: { published: [''], subscribed: [] },
  faults: { published: [''], subscribed: [] },
  records: { published: [''], subscribed: [] },
  presence: { published: [''], subscribed: [] },
} as const satisfies Readonly<Record<string, TopicUse>>;
export type TopicKey = keyof typeof topicUses;
export const topicKeys = Object.keys(topicUses) as readonly TopicKey[];

/** Project decisions: the specification shows no topic. */
export const defaultTemplates: Readonly<Record<TopicKey, string>> = {
  stop: 'gw/<serial>/stop',
  jobs: 'gw/<serial>/jobs',
  shadow: 'gw/<serial>/shadow',
  storage: 'gw/<serial>/storage',
  tunnels: 'gw/<serial>/tunnels/notify',
  telemetry: 'gw/<serial>/telemetry',
  faults: 'gw/<serial>/faults',
  records: 'gw/<serial>/records',
  presence: 'gw/<serial>/presence',
};

/** Everything that gw appends to a template. */
export function usesOf(key: TopicKey): readonly string[] {
  const { published, subscribed } = topicUses[key];
  return [...published, ...subscribed];
}

/** A template with the serial number of the robot. */
export function resolveTemplate(template: string, serial: string): string {
  return template
    .split('/')
    .map((element) => (element === SERIAL_ELEMENT ? serial : element))
    .join('/');
}
