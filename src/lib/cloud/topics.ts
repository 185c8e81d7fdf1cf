import { resolveTemplate, type Site, type TopicKey, topicKeys, topicUses } from '../site/index.ts';

export type TopicTemplates = NonNullable<Site['cloud']>['topics'];

/** The topics of one robot; of jobs and shadow their starts, without a final slash. */
export interface Topics extends Readonly<Record<TopicKey, string>> {
  readonly storageAnswer: string;
}

/** The topics of a robot by the templates of the site file. */
export function topicsOf(templates: TopicTemplates, serial: string): Topics {
  const own = (key: TopicKey) => resolveTemplate(templates[key], serial);
  return {
    telemetry: own('telemetry'),
    faults: own('faults'),
    records: own('records'),
    presence: own('presence'),
    stop: own('stop'),
    storage: own('storage'),
    storageAnswer: `${own('storage')}/answer`,
    tunnels: own('tunnels'),
    jobs: own('jobs'),
    shadow: own('shadow'),
  };
}

/** The topic filters that gw subscribes to, the stop first; it accepts messages of no other topic. */
export function subscribedFilters(topics: Topics): readonly string[] {
  return topicKeys.flatMap((key) => topicUses[key].subscribed.map((appended) => `${topics[key]}${appended}`));
}
