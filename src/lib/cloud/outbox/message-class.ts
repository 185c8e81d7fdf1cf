/** Classes of outgoing messages, the most important first. Only telemetry may be thinned. */
export const messageClasses = ['record', 'fault', 'shadow', 'telemetry'] as const;
export type MessageClass = (typeof messageClasses)[number];
