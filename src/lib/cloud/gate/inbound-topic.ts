import type { Topics } from '../topics.ts';
import type { RequestKind } from './model.ts';

/** What a message on a topic can be. */
export type InboundTopic =
  | { readonly kind: 'stop' }
  | { readonly kind: 'notify-next' | 'tunnel-notification' }
  | {
      readonly kind: 'answer';
      readonly request: RequestKind;
      /** Topic of the request that is answered. */
      readonly requestTopic: string;
      /** 'answer': the topic does not say which of the two it is. */
      readonly outcome: 'accepted' | 'rejected' | 'answer';
    };

/**
 * Max. payload in bytes by kind; a longer stop stops without being read. Project decisions: a stop and a notification have few short fields; a job document has
 * at most 32 KiB and a shadow 30 KiB with a common vendor (HINWEIS), and answers repeat them.
 */
export const MAX_PAYLOAD_BYTES: Readonly<Record<InboundTopic['kind'], number>> = {
  stop: 4 * 1024,
  'tunnel-notification': 16 * 1024,
  'notify-next': 64 * 1024,
  answer: 64 * 1024,
};

/** @source vendor (HINWEIS) */
export const JOB_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Null for a topic that this gateway has not subscribed to. */
export function inboundTopicOf(topic: string, topics: Topics): InboundTopic | null {
  if (topic === topics.stop) return { kind: 'stop' };
  if (topic === topics.tunnels) return { kind: 'tunnel-notification' };
  if (topic === `${topics.jobs}/notify-next`) return { kind: 'notify-next' };
  if (topic === topics.storageAnswer) {
    return { kind: 'answer', request: 'storage', requestTopic: topics.storage, outcome: 'answer' };
  }
  const end = topic.lastIndexOf('/');
  const [requestTopic, outcome] = [topic.slice(0, end), topic.slice(end + 1)];
  if (end < 0 || (outcome !== 'accepted' && outcome !== 'rejected')) return null;
  const request = requestKindOf(requestTopic, topics);
  return request === null ? null : { kind: 'answer', request, requestTopic, outcome };
}

function requestKindOf(requestTopic: string, { jobs, shadow }: Topics): RequestKind | null {
  if (requestTopic === `${shadow}/update`) return 'shadow-update';
  if (requestTopic === `${jobs}/start-next`) return 'job-start';
  if (!requestTopic.startsWith(`${jobs}/`)) return null;
  const [jobId = '', verb, ...more] = requestTopic.slice(jobs.length + 1).split('/');
  if (more.length > 0 || !JOB_ID.test(jobId)) return null;
  return verb === 'update' ? 'job-update' : verb === 'get' ? 'job-get' : null;
}
