import { assumed, factsFrom, notShown, stated } from '../fact.ts';

export const cloudFacts = factsFrom("specification, 'Authentication'", {
  'cloud.client-certificate': stated(
    'The gateway authenticates to MQTT over TLS with a client certificate of its own; its client id is the serial number.',
  ),
  'cloud.alpn': stated('MQTT on port 443 needs the ALPN identifier x-<vendor>-mqtt-ca.', {
    value: 'x-<vendor>-mqtt-ca',
    source: "specification, 'Authentication' and 'Cloud and other network paths'",
  }),
  'cloud.own-topic-only': stated('The cloud reaches a device only by a topic that the device itself subscribed to.', {
    source: "specification, 'Core network rule'",
  }),
  'cloud.two-messages': stated(
    'The device accepts exactly two messages from the cloud: a version release and a stop.',
    { value: ['version release', 'stop'], source: "specification, 'Core network rule' and 'Events'" },
  ),
  'cloud.two-messages-and-notification': notShown(
    'The specification names exactly two messages that a device accepts from the cloud, and a tunnel notification that comes from the cloud as well; how the two fit together is not shown.',
    'A contradiction within the specification: cloud.two-messages and tunnel.notification. Project decision: the two are the messages on the topics of the application, and the notification has its reserved topic and checks of its own.',
    { source: "specification, 'Core network rule' against 'States and transitions' and 'Events'" },
  ),
  'cloud.other-messages': stated('Every other message from the cloud is discarded and logged.', {
    source: "specification, 'Core network rule' and 'Events'",
  }),
  'cloud.outgoing-buffered': stated(
    'Telemetry, faults and device shadow go to the cloud over MQTT; what cannot be sent is kept and sent later.',
    { source: "specification, 'Events'" },
  ),
  'cloud.update-job': stated('An update job comes from the cloud as a job document with parameters.', {
    source: "specification, 'Events'",
  }),
  'cloud.update-job-and-release': notShown(
    'The specification names an update job and a version release as two messages from the cloud, of which only the release is among the two that a device accepts; how the two are related is not shown.',
    'A contradiction within the specification: cloud.two-messages and cloud.update-job. Project decision: the update job is how a version release is delivered, and an update job that releases no version is refused.',
    { source: "specification, 'Core network rule' against 'Events'" },
  ),
  'cloud.rollout': stated('A version release is rolled out in four stages, and a rollback exists.', {
    value: 4,
    unit: 'stages',
    source: "specification, 'Events' and 'Versioning'",
  }),
  'cloud.rollout-stages': notShown(
    'What the four rollout stages are, and how a rollback passes through them, is not shown.',
    { source: "specification, 'States and transitions' and 'Versioning'" },
  ),
  'cloud.job-parameters': stated('The update job document has `documentParameters`.', {
    source: "specification, 'Other records'",
  }),
  'cloud.job-parameters-substitution': assumed(
    'Substitution of `documentParameters` in custom templates is unverified.',
    "The mark is implied by the word 'unverified'.",
    { source: "specification, 'Other records'" },
  ),
  'cloud.job-fields': notShown('The other fields of the update job document are not shown.', {
    source: "specification, 'Other records' and 'Events'",
  }),
  'cloud.topic-tree': notShown('The topic names of the cloud are not shown.', {
    source: "specification, 'Cloud and other network paths' and 'Events'",
  }),
  'cloud.message-payloads': notShown('The payloads of cloud messages are not shown.', {
    source: "specification, 'Events'",
  }),
  'cloud.message-versioning': notShown('How cloud messages are versioned is not shown.', {
    source: "specification, 'Versioning'",
  }),
  'cloud.storage-addresses': stated('Object storage is reached only by short-lived pre-signed addresses.', {
    source: "specification, 'Authentication' and 'Limits'",
  }),
  'cloud.storage-contents': stated('Object storage holds update packages and map backups.', {
    value: ['update packages', 'map backups'],
    source: "specification, 'Cloud and other network paths'",
  }),
  'cloud.storage-lifetime': notShown('How long a pre-signed address lives is not shown.', {
    source: "specification, 'Limits'",
  }),
  'cloud.enrolment': stated(
    'A device is enrolled once, at the premises of the operator before delivery, by POST /anmeldung at the enrolment address over HTTPS 443.',
    { source: "specification, 'Enrolment'" },
  ),
});
