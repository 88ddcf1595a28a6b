"""Reads what wstream has written with the readers that its users have: Spark, and deltalake without Spark.

    python read_tables.py FOLDER JARS

FOLDER holds a folder per format. For each the schema is printed and then the rows, as JSON, in order.
"""

import datetime
import decimal
import glob
import json
import os
import sys

from deltalake import DeltaTable
from pyspark.sql import SparkSession, functions

folder, jars = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.jars", ",".join(sorted(glob.glob(jars + "/*.jar"))))
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.log.level", "OFF")
    .getOrCreate()
)
FLAT = "k STRING, n INT, big BIGINT, d DOUBLE, price DECIMAL(10,2), day DATE, ts TIMESTAMP, ok BOOLEAN"


def show(title, frame):
    print("==", title, frame.schema.simpleString())
    text = functions.to_json(functions.struct("*"), {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"})
    for row in sorted(r[0] for r in frame.select(text).collect()):
        print(row)


def plain(value):
    """A value of deltalake as JSON has it."""
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    raise TypeError(type(value))


for name, kind in [("parquet", "parquet"), ("avro", "avro"), ("delta", "delta"), ("totals", "delta")]:
    show(name, spark.read.format(kind).load(folder + "/" + name))
show("json", spark.read.schema(FLAT + ", x BINARY, list ARRAY<INT>, st STRUCT<a: INT, b: STRING>").json(folder + "/json"))
show("csv", spark.read.schema(FLAT).option("header", "true").csv(folder + "/csv"))
show("text", spark.read.text(folder + "/text"))
show("partitioned", spark.read.parquet(folder + "/partitioned"))
for name in ["delta", "totals"]:
    table = DeltaTable(folder + "/" + name)
    print("== deltalake", name, "version", table.version())
    for row in sorted(json.dumps(r, default=plain, sort_keys=True) for r in table.to_pyarrow_table().to_pylist()):
        print(row)
# deltalake's threads may abort the interpreter as it ends, when everything has been read.
sys.stdout.flush()
spark.stop()
os._exit(0)
