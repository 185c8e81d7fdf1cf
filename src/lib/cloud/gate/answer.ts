import { isRecord } from '../../json/index.ts';
import { readExecution } from './execution.ts';
import { count, displayText, type Fields, field, hasOther, matching, textsOf } from './fields.ts';
import type { InboundTopic } from './inbound-topic.ts';
import type { Answer, DiscardReason, GateContext } from './model.ts';

type AnswerTopic = Extract<InboundTopic, { readonly kind: 'answer' }>;

/** Longer than any client token of this gateway. */
const CLIENT_TOKEN = /^[A-Za-z0-9-]{1,128}$/;
const MAX_MESSAGE_CHARACTERS = 500;
const REJECTION_CODE = /^[A-Za-z0-9_.-]{1,64}$/;

const storageNames = ['clientToken', 'url', 'headers', 'error'];
/** A pre-signed URL: printable ASCII. */
const URL_TEXT = /^https:\/\/[\x21-\x7e]{1,8184}$/i;
const headerRules = {
  key: /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/,
  text: /^[\x20-\x7e]{0,4096}$/,
  maxEntries: 32,
} as const;

export type ReadAnswer =
  | { readonly ok: true; readonly clientToken: string; readonly answer: Answer }
  | { readonly ok: false; readonly reason: DiscardReason };

const refuse = (reason: DiscardReason): ReadAnswer => ({ ok: false, reason });

/** An answer to a pending request of this gateway, matched by its client token and the topic of the request. */
export function readAnswer(value: unknown, topic: AnswerTopic, context: GateContext): ReadAnswer {
  if (!isRecord(value)) return refuse('wrong-type');
  const clientToken = matching(field(value, 'clientToken'), CLIENT_TOKEN);
  const request = clientToken === null ? null : context.requestOf(clientToken);
  if (clientToken === null || request === null) return refuse('not-asked-for');
  if (request.kind !== topic.request || request.topic !== topic.requestTopic) return refuse('not-asked-for');
  if (request.state !== 'pending') return refuse(request.state === 'answered' ? 'duplicate' : 'late');
  const answer = topic.outcome === 'rejected' ? rejectedOf(value) : acceptedOf(value, topic, context);
  return typeof answer === 'string' ? refuse(answer) : { ok: true, clientToken, answer };
}

function acceptedOf(value: Fields, { request }: AnswerTopic, { serial }: GateContext): Answer | DiscardReason {
  switch (request) {
    case 'job-start':
    case 'job-get': {
      const execution = readExecution(field(value, 'execution'), serial);
      return typeof execution === 'string' ? execution : { kind: 'job', execution };
    }
    case 'job-update':
      return { kind: 'job-updated' };
    case 'shadow-update': {
      const version = count(field(value, 'version'));
      return version === null ? 'wrong-type' : { kind: 'shadow', version };
    }
    case 'storage':
      return storageOf(value);
  }
}

/** A rejection always reaches the request, if need be without its message: without it the request would wait in vain. */
function rejectedOf(value: Fields): Answer | DiscardReason {
  const given = field(value, 'code');
  const code = matching(given, REJECTION_CODE) ?? count(given);
  if (code === null) return 'wrong-type';
  const message = displayText(field(value, 'message'), MAX_MESSAGE_CHARACTERS) ?? '';
  return { kind: 'rejected', rejected: { code, message } };
}

/** Either a URL or the reason why there is none. */
function storageOf(value: Fields): Answer | DiscardReason {
  const given = { url: field(value, 'url'), headers: field(value, 'headers'), error: field(value, 'error') };
  if ((given.url === undefined) === (given.error === undefined)) return 'wrong-type';
  if (given.error !== undefined) {
    const error = displayText(given.error, MAX_MESSAGE_CHARACTERS);
    if (error === null || given.headers !== undefined) return 'wrong-type';
    return hasOther(value, storageNames) ? 'unknown-field' : { kind: 'storage', storage: { error } };
  }
  const url = matching(given.url, URL_TEXT);
  const headers = given.headers === undefined ? undefined : textsOf(given.headers, headerRules);
  if (url === null || headers === null || !URL.canParse(url)) return 'wrong-type';
  if (hasOther(value, storageNames)) return 'unknown-field';
  return { kind: 'storage', storage: { url, ...(headers !== undefined && { headers }) } };
}
