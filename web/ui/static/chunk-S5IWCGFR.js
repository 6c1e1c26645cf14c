import{s as n}from"/ui/chunk-PGULINS6.js";var t=n(null),e=3e4;export{t as a,e as b};
