import{u as n}from"/ui/chunk-LA3LYUWG.js";var t=n(null),e=3e4;export{t as a,e as b};
