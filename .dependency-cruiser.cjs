// The import rules of docs/architecture.md ("Rooms"). scripts/check-imports.ts runs them and fails when nothing was read.

const only = (room, allowed, comment) => ({
  name: `${room.replace('/', '-')}-imports`,
  comment,
  severity: 'error',
  from: { path: `^src/${room}/`, pathNot: '[.]test[.]ts$' },
  to: { path: '^src/', pathNot: [`^src/${room}/`, ...allowed.map((path) => `^src/${path}`)] },
});

/** What every room may import. */
const base = ['lib/', 'problems/', 'db/'];
const PORTS = 'vendors/[^/]+/port[.]ts$';
/** What the kit and modules stand on. */
const rooms = [
  'core/',
  'assets/',
  'blocks/',
  'browser/',
  'files/',
  'objects/',
  'payments/',
  'people/',
  'pictures/',
  'rendering/',
  'routing/',
  'webhooks/',
];
/** Rooms of core, each with those that it may import. Files at the root of core: limits below all of them, `core.ts` and what uses it above. */
const ground = ['(?!core[.]ts$|own-calls[.]ts$|hear-siblings[.]ts$)[^/]+[.]ts$'];
const floorsOfCore = {
  secrets: ground,
  events: ground,
  process: ground,
  tracing: [...ground, 'process/'],
  background: [...ground, 'process/'],
  callers: ground,
  usage: [...ground, 'background/'],
  requests: [...ground, 'callers/'],
  idempotency: [...ground, 'callers/', 'process/', 'secrets/', 'tracing/'],
  wallet: [...ground, 'background/', 'callers/', 'events/', 'process/', 'tracing/', 'usage/'],
  accounts: [...ground, 'callers/', 'events/', 'wallet/'],
  keys: [...ground, 'accounts/', 'background/', 'callers/', 'process/', 'secrets/', 'wallet/'],
  operator: [...ground, 'accounts/', 'callers/', 'keys/', 'secrets/'],
};

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    { name: 'not-found', severity: 'error', from: {}, to: { couldNotResolve: true } },
    only('lib', [], 'lib imports nothing of ours'),
    only('config', ['lib/'], 'config stands on lib'),
    only('problems', ['lib/'], 'problems stand on lib'),
    only('db', ['lib/'], 'db stands on lib'),
    only('core', [...base, PORTS], 'core stands on lib, problems, db and the ports of vendors'),
    only('assets', [...base, PORTS, 'core/'], 'where bytes are kept that are too many for the database'),
    only('routing', [...base, PORTS, 'core/'], 'which vendor does a piece of work'),
    only('browser', [...base], 'a Chromium without a network'),
    only('rendering', [...base, 'core/'], 'rendering is done here or in another process'),
    only('pictures', [...base, 'core/', 'assets/', 'rendering/'], 'pictures are decoded from assets'),
    only('blocks', [...base, 'core/', 'assets/'], 'blocks that have grown cold are assets'),
    only('objects', [...base, PORTS, 'core/', 'assets/'], 'the bytes of objects are assets'),
    only('files', [...base, 'core/', 'assets/', 'objects/'], 'what calls work on is an object, or becomes one'),
    only('people', [...base, PORTS, 'core/'], 'people stand on core'),
    only(
      'webhooks',
      [...base, PORTS, 'core/', 'people/'],
      'webhooks stand on core; what they tell may be mailed to people',
    ),
    only('payments', [...base, PORTS, 'core/', 'people/'], 'payments stand on core, and mail people'),
    only(
      'upkeep',
      [...base, PORTS, 'core/', 'approvals/', 'assets/', 'files/', 'people/', 'payments/', 'routing/', 'webhooks/'],
      'upkeep looks after all that accounts have',
    ),
    ...Object.entries(floorsOfCore).map(([room, allowed]) =>
      only(`core/${room}`, [...base, PORTS, ...allowed.map((each) => `core/${each}`)], 'core has floors'),
    ),
    only(
      'kit',
      [...base, PORTS, ...rooms, 'config/variables[.]ts$'],
      'the kit gives modules their shapes, and knows none of them',
    ),
    only(
      'approvals',
      [...base, 'core/', 'kit/', 'people/'],
      'approvals stand on core and the kit, and mail people; they know no module',
    ),
    only('manifest', [...base, 'core/', 'kit/', 'config/'], 'the manifest puts modules together that it is given'),
    only(
      'workers',
      ['config/', 'core/', 'db/', 'gateway/limits/', 'lib/', 'routing/', 'surfaces/http/(?:listen|moves)[.]ts$'],
      'workers stand on what they share: the core, the database and the limits of calls',
    ),
    only(
      'jobs',
      [...base, PORTS, ...rooms, 'kit/', 'vendors/call/'],
      'jobs stand on core, the kit and the way of one question to a vendor, and know no module',
    ),
    only('vendors', ['lib/', 'problems/'], 'vendors know the outside world and nothing of ours'),
    only(
      'modules',
      [
        ...base,
        PORTS,
        ...rooms,
        'approvals/',
        'config/variables[.]ts$',
        'kit/',
        'jobs/',
        'upkeep/',
        'vendors/call/',
        'vendors/oauth/',
      ],
      'modules stand on the kit, on core and the rooms beside it, on the ports of vendors and the ways of one question',
    ),
    {
      name: 'modules-never-import-each-other',
      comment: 'they meet through core/events or a core function',
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/' },
      to: { path: '^src/modules/[^/]+/', pathNot: '^src/modules/$1/' },
    },
    {
      name: 'modules-by-their-index',
      comment: 'index.ts is the only file of a module that others import',
      severity: 'error',
      from: { path: ['^src/modules/index[.]ts$', '^src/(?!modules/)'] },
      to: { path: '^src/modules/[^/]+/', pathNot: '^src/modules/[^/]+/index[.]ts$' },
    },
    {
      name: 'engines-by-their-index',
      comment: 'what searches vectors stands behind engine/port.ts: an engine is known by its index.ts only',
      severity: 'error',
      from: {
        path: '^src/modules/vector/',
        pathNot: ['^src/modules/vector/engine/(embedded|pgvector)/', '[.]test[.]ts$'],
      },
      to: { path: '^src/modules/vector/engine/(embedded|pgvector)/', pathNot: '/(embedded|pgvector)/index[.]ts$' },
    },
    {
      name: 'no-room-names-a-module',
      comment: 'gateway and surfaces read the manifest; only the list of modules names them',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/modules/', '^src/service/'] },
      to: { path: '^src/modules/[^/]+/' },
    },
    {
      name: 'pages-of-the-console-only-call',
      comment:
        'what a page shows and does are calls of its visitor: of its module it knows the records of its capabilities',
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/console/', pathNot: '[.]test[.]ts$' },
      to: {
        path: '^src/',
        pathNot: ['^src/kit/console/', '^src/(?:lib|problems)/', '^src/modules/$1/(?:console|capabilities)/'],
      },
    },
    {
      name: 'only-the-service-knows-vendors',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: ['^src/vendors/', '^src/service/'],
      },
      to: { path: '^src/vendors/', pathNot: ['/port[.]ts$', '^src/vendors/(?:call|oauth)/'] },
    },
    {
      name: 'nothing-stands-on-the-top',
      comment:
        'service/ composes, and the files at the root of src/ start it; only the command line and tests do so too',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: '^src/(cli|service)/' },
      to: { path: '^src/([^/]+[.]ts$|cli/|service/)' },
    },
    {
      name: 'no-tests-or-tools-in-the-service',
      severity: 'error',
      from: { path: '^src/', pathNot: '[.]test[.]ts$' },
      to: { path: ['[.]test[.]ts$', '^(test|bench|scripts)/'] },
    },
    {
      name: 'no-development-packages-in-the-service',
      severity: 'error',
      from: { path: '^src/', pathNot: '[.](test|fixture)[.]ts$' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
