// The import rules of docs/architecture.md ("Rooms"). scripts/check-imports.ts runs them and fails when nothing was read.

const only = (room, allowed, comment) => ({
  name: `${room}-imports`,
  comment,
  severity: 'error',
  from: { path: `^src/${room}/`, pathNot: '[.]test[.]ts$' },
  to: { path: '^src/', pathNot: [`^src/${room}/`, ...allowed.map((path) => `^src/${path}`)] },
});

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
    only(
      'core',
      ['lib/', 'problems/', 'db/', 'vendors/[^/]+/port[.]ts$'],
      'core stands on lib, problems, db and the ports of vendors',
    ),
    only('people', ['core/', 'lib/', 'problems/', 'db/', 'vendors/[^/]+/port[.]ts$'], 'people stand on core'),
    only(
      'webhooks',
      ['core/', 'people/', 'lib/', 'problems/', 'db/', 'vendors/[^/]+/port[.]ts$'],
      'webhooks stand on core; what they tell may be mailed to people',
    ),
    only(
      'payments',
      ['core/', 'people/', 'lib/', 'problems/', 'db/', 'vendors/[^/]+/port[.]ts$'],
      'payments stand on core, and mail people',
    ),
    only(
      'upkeep',
      ['core/', 'people/', 'payments/', 'webhooks/', 'lib/', 'problems/', 'db/', 'vendors/[^/]+/port[.]ts$'],
      'upkeep looks after all that accounts have',
    ),
    only(
      'kit',
      ['core/', 'lib/', 'problems/', 'db/', 'config/variables[.]ts$', 'vendors/[^/]+/port[.]ts$'],
      'the kit gives modules their shapes, and knows none of them',
    ),
    only(
      'manifest',
      ['kit/', 'core/', 'lib/', 'problems/', 'db/', 'config/'],
      'the manifest puts modules together that it is given',
    ),
    only(
      'workers',
      ['config/', 'core/', 'db/', 'gateway/limits/', 'lib/', 'surfaces/http/(?:listen|moves)[.]ts$'],
      'workers stand on what they share: the core, the database and the limits of calls',
    ),
    only(
      'jobs',
      ['core/', 'kit/', 'lib/', 'problems/', 'db/', 'webhooks/', 'vendors/[^/]+/port[.]ts$', 'vendors/call/'],
      'jobs stand on core, the kit and the way of one question to a vendor, and know no module',
    ),
    only('vendors', ['lib/', 'problems/'], 'vendors know the outside world and nothing of ours'),
    only(
      'modules',
      [
        'core/',
        'lib/',
        'problems/',
        'db/',
        'config/variables[.]ts$',
        'kit/',
        'jobs/',
        'people/',
        'payments/',
        'webhooks/',
        'upkeep/',
        'vendors/[^/]+/port[.]ts$',
        'vendors/call/',
      ],
      'modules stand on the kit, on core and the rooms beside it, on the ports of vendors and the way of one question',
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
      from: { path: '^src/', pathNot: ['^src/modules/', '^src/app[.]ts$'] },
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
      name: 'only-app-knows-vendors',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          '^src/vendors/',
          '^src/app[.]ts$',
          '^src/(asset-store|mail-server|payment-provider|people|tracing|vendors-file)[.]ts$',
        ],
      },
      to: { path: '^src/vendors/', pathNot: ['/port[.]ts$', '^src/vendors/call/'] },
    },
    {
      name: 'nothing-stands-on-the-top',
      comment: 'the files at the top of src/ compose; only the command line and tests start them',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: '^src/cli/' },
      to: { path: '^src/([^/]+[.]ts$|cli/)' },
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
