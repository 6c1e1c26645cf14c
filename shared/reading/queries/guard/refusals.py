"""Names that user SQL may not contain: words of other statements, and functions, with reasons."""

import re
from collections.abc import Mapping
from types import MappingProxyType

# Words that end a SELECT at another place than here, or begin another statement. They can be quoted
# where they are used as names.
WORDS: Mapping[str, str] = MappingProxyType(
    {
        "SETTINGS": "the service chooses the settings",
        "FORMAT": "the answer is always JSON",
        "INTO": "the answer cannot be written elsewhere",
        "OUTFILE": "the answer cannot be written elsewhere",
        "INFILE": "files cannot be read",
        "EXPLAIN": "only SELECT is run",
        "PARALLEL": "one statement at a time",
    }
)

# Functions that also work without brackets.
BARE = frozenset(
    {"CURRENTUSER", "CURRENT_USER", "SESSION_USER", "CURRENTDATABASE", "CURRENT_DATABASE"}
)

# Table functions that generate rows; every other one reads from somewhere.
GENERATORS = frozenset({"numbers", "generateseries", "generate_series", "values"})

_SERVER = "it reveals details of the server"
_QUERIES = "it reveals the server's sessions and statements"
_SETTINGS = "it reveals the server's settings"
_ELSEWHERE = "it reads other data than the published tables"
_WAITS = "it only takes time"
# Measured: the engine checks the time between blocks, and these functions take hours for one.
_UNSTOPPABLE = "the database cannot stop it before it is done"
_INSIDE = "it reveals the engine's internals"
_COUNTS = "it stores a counter in the database"
_STATE = "values cannot be converted to states"
_TABLE = "write the operator IN, not the function"

# Lower case, because some function names ignore the case.
_FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        name: reason
        for reason, names in {
            _SERVER: """hostname fqdn fullhostname version buildid revision uptime tcpport chdb
                serveruuid servertimezone displayname shardnum shardcount filesystemavailable
                filesystemcapacity filesystemunreserved zookeepersessionuptime getoskernelversion
                getserverport showcertificate tid hasthreadfuzzer errorcodetoname
                getmaxtablenamelengthfordatabase pggetuserbyid pgtableisvisible
                pg_get_userbyid pg_table_is_visible globalvariable runningconcurrency""",
            _QUERIES: """currentuser current_user user session_user authenticateduser authuser
                currentdatabase current_database database schema currentschemas current_schemas
                currentqueryid current_query_id queryid query_id initialqueryid initial_query_id
                initialquerystarttime initial_query_start_time connectionid connection_id
                currenthandler currentrequesturl getclienthttpheader currentroles enabledroles
                defaultroles currentprofiles enabledprofiles defaultprofiles transactionid
                transactionlatestsnapshot transactionoldestsnapshot logtrace""",
            _SETTINGS: """getsetting getsettingordefault getserversetting getmergetreesetting
                getmacro""",
            _ELSEWHERE: """file joinget joingetornull hascolumnintable catboostevaluate
                modelevaluate evalmlmethod lemmatize stem synonyms executable url s3 gcs cosn oss
                hdfs remote remotesecure cluster clusterallreplicas merge view viewifpermitted
                viewexplain dictionary input loop mysql postgresql sqlite odbc jdbc mongodb redis
                azureblobstorage iceberg deltalake hudi paimon ytsaurus bigquery filesystem python
                eval macstringtooui assigncentroid""",
            _WAITS: "sleep sleepeachrow trap",
            _UNSTOPPABLE: """editdistance editdistanceutf8 levenshteindistance
                levenshteindistanceutf8 dameraulevenshteindistance jarosimilarity
                jarowinklersimilarity arraylevenshteindistance arraylevenshteindistanceweighted
                arraysimilarity""",
            _INSIDE: """addresstoline addresstolinewithinlines addresstosymbol demangle indexhint
                ismergetreepartcoveredby mergetreepartinfo partitionid lowcardinalityindices
                lowcardinalitykeys blocknumber blocksize blockserializedsize dumpcolumnstructure
                gettypeserializationstreams fuzzquery generaterandomstructure flamegraph
                parsequerytojson formatqueryfromjson
                structuretocapnprotoschema structuretoprotobufschema""",
            _COUNTS: "generateserialid",
            _STATE: "aggregatefunction simpleaggregatefunction",
            _TABLE: """notin globalin globalnotin nullin notnullin globalnullin
                globalnotnullin""",
        }.items()
        for name in names.split()
    }
)

_FAMILIES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"dict(get|has|isin)|region(hierarchy|in$|to)|naivebayes"), _ELSEWHERE),
    (re.compile(r"timeseries(idto|store|tagsto|tagsgroupto|groupto)"), _ELSEWHERE),
    (re.compile(r"ai[a-z]+$(?<!^ain)"), _ELSEWHERE),
    (re.compile(r".*(in|notin|nullin)ignoreset$"), _INSIDE),
    (re.compile(r"__"), _INSIDE),
    (re.compile(r"h3|polygons?[a-z]|geometryintersect"), _UNSTOPPABLE),
    (
        re.compile(r"(file|url|s3|hdfs|gcs|iceberg|deltalake|hudi|paimon|azure)\w*cluster$"),
        _ELSEWHERE,
    ),
    (re.compile(r"mergetree(index|textindex|projection|analyze|codec)"), _INSIDE),
)


def refused_function(name: str) -> str | None:
    """Returns the reason why a function is not available; None if it is."""
    folded = name.lower()
    if reason := _FUNCTIONS.get(folded):
        return reason
    return next((reason for pattern, reason in _FAMILIES if pattern.match(folded)), None)
