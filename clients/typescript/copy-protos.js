// Copies the protos into the package, which reads them when it is loaded: a package has to bring along what it needs.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const from = path.join(__dirname, '../../proto/proto/amem');
fs.cpSync(from, path.join(__dirname, 'proto/amem'), { recursive: true });
