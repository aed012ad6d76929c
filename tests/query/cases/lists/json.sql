-- policy: lists
-- python: QuestionBuilder("notes").where("note ->> '$.kind' = 'a'").agg(n=count(), s=sum("CLAMP(CAST(note ->> '$.items[0].\"unit price\"' AS DOUBLE), 0, 5)"))
SELECT COUNT(*) AS n, SUM(CLAMP(CAST(note ->> '$.items[0]."unit price"' AS DOUBLE), 0, 5)) AS s FROM notes WHERE note ->> '$.kind' = 'a'
