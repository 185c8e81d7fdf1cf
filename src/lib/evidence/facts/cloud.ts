import { factsOf } from '../fact.ts';

export const cloudFacts = factsOf(
  { mark: 'BELEGT', basis: 'stated', source: "specification, 'Events'" },
  {
    'cloud.client-certificate': {
      statement:
        'The gateway authenticates to MQTT over TLS with a client certificate of its own; its client id is the serial number.',
      source: "specification, 'Authentication'",
    },
    'cloud.alpn': {
      statement: 'MQTT on port 443 needs the ALPN identifier x-<vendor>-mqtt-ca.',
      value: 'x-<vendor>-mqtt-ca',
      source: "specification, 'Authentication' and 'Cloud and other network paths'",
    },
    'cloud.own-topic-only': {
      statement: 'The cloud reaches a device only by a topic that the device itself subscribed to.',
      source: "specification, 'Core network rule'",
    },
    'cloud.two-messages': {
      statement: 'The device accepts exactly two messages from the cloud: a version release and a stop.',
      value: ['version release', 'stop'],
      source: "specification, 'Core network rule' and 'Events'",
    },
    'cloud.two-messages-and-notification': {
      statement:
        'The specification names exactly two messages that a device accepts from the cloud, and a tunnel notification that comes from the cloud as well; how the two fit together is not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
      source: "specification, 'Core network rule' against 'States and transitions' and 'Events'",
      note: 'A contradiction within the specification: cloud.two-messages and tunnel.notification. Project decision: the two are the messages on the topics of the application, and the notification has its reserved topic and checks of its own.',
    },
    'cloud.other-messages': {
      statement: 'Every other message from the cloud is discarded and logged.',
      source: "specification, 'Core network rule' and 'Events'",
    },
    'cloud.outgoing-buffered': {
      statement:
        'Telemetry, faults and device shadow go to the cloud over MQTT; what cannot be sent is kept and sent later.',
    },
    'cloud.update-job': { statement: 'An update job comes from the cloud as a job document with parameters.' },
    'cloud.update-job-and-release': {
      statement:
        'The specification names an update job and a version release as two messages from the cloud, of which only the release is among the two that a device accepts; how the two are related is not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
      source: "specification, 'Core network rule' against 'Events'",
      note: 'A contradiction within the specification: cloud.two-messages and cloud.update-job. Project decision: the update job is how a version release is delivered, and an update job that releases no version is refused.',
    },
    'cloud.rollout': {
      statement: 'A version release is rolled out in four stages, and a rollback exists.',
      value: 4,
      unit: 'stages',
      source: "specification, 'Events' and 'Versioning'",
    },
    'cloud.rollout-stages': {
      statement: 'What the four rollout stages are, and how a rollback passes through them, is not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
      source: "specification, 'States and transitions' and 'Versioning'",
    },
    'cloud.job-parameters': {
      statement: 'The update job document has `documentParameters`.',
      source: "specification, 'Other records'",
    },
    'cloud.job-parameters-substitution': {
      statement: 'Substitution of `documentParameters` in custom templates is unverified.',
      mark: 'VORSICHT',
      basis: 'assumed',
      source: "specification, 'Other records'",
      note: "The mark is implied by the word 'unverified'.",
    },
    'cloud.job-fields': {
      statement: 'The other fields of the update job document are not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
      source: "specification, 'Other records' and 'Events'",
    },
    'cloud.topic-tree': {
      statement: 'The topic names of the cloud are not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
      source: "specification, 'Cloud and other network paths' and 'Events'",
    },
    'cloud.message-payloads': {
      statement: 'The payloads of cloud messages are not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
    },
    'cloud.message-versioning': {
      statement: 'How cloud messages are versioned is not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
      source: "specification, 'Versioning'",
    },
    'cloud.storage-addresses': {
      statement: 'Object storage is reached only by short-lived pre-signed addresses.',
      source: "specification, 'Authentication' and 'Limits'",
    },
    'cloud.storage-contents': {
      statement: 'Object storage holds update packages and map backups.',
      value: ['update packages', 'map backups'],
      source: "specification, 'Cloud and other network paths'",
    },
    'cloud.storage-lifetime': {
      statement: 'How long a pre-signed address lives is not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
      source: "specification, 'Limits'",
    },
    'cloud.enrolment': {
      statement:
        'A device is enrolled once, at the premises of the operator before delivery, by POST /anmeldung at the enrolment address over HTTPS 443.',
      source: "specification, 'Enrolment'",
    },
  },
);
