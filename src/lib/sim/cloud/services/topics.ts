/** Topic templates of the simulated cloud, with the same names as in a site file. */
export interface TopicTemplates {
  readonly telemetry: string;
  readonly faults: string;
  readonly records: string;
  readonly presence: string;
  readonly stop: string;
  readonly storage: string;
  /** Starts of the topics of jobs and shadow, without a final slash. */
  readonly jobs: string;
  readonly shadow: string;
  readonly tunnels: string;
}

/** The defaults of docs/cloud.md. */
export const defaultTemplates: TopicTemplates = {
  telemetry: 'gw/<serial>/telemetry',
  faults: 'gw/<serial>/faults',
  records: 'gw/<serial>/records',
  presence: 'gw/<serial>/presence',
  stop: 'gw/<serial>/stop',
  storage: 'gw/<serial>/storage',
  jobs: 'gw/<serial>/jobs',
  shadow: 'gw/<serial>/shadow',
  tunnels: 'gw/<serial>/tunnels/notify',
};

/** A topic of one device. */
export function topicFor(template: string, serial: string): string {
  return template.replaceAll('<serial>', serial);
}

/** The rest of a topic after a start and a slash; undefined when it has another start. */
export function restAfter(start: string, topic: string): string | undefined {
  return topic.startsWith(`${start}/`) ? topic.slice(start.length + 1) : undefined;
}
